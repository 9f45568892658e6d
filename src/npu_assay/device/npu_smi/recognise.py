"""Tell npu-smi's outputs apart by their content, whatever the file's name."""

import re

from npu_assay.device.npu_smi.blocks import (
    HealthReport,
    Listing,
    is_health,
    is_listing,
    parse_health,
    parse_listing,
)
from npu_assay.device.npu_smi.errors import DriverFailureError, UnknownLayoutError
from npu_assay.device.npu_smi.info import Info, is_info, parse_info
from npu_assay.device.npu_smi.mapping import ChipMapping, is_mapping, parse_mapping

#: "dcmi module initialize failed. ret is -8005", "dcmi model initialized failed, ... ret is -8020" and
#: their kin.
_FAILURE = re.compile(r"^.*\bret is -\d+.*$", re.MULTILINE)

Output = Info | ChipMapping | Listing | HealthReport


def parse_npu_smi(data: bytes, source: str) -> Output:
    """Read any of the known outputs.

    Raises DriverFailureError for npu-smi's own failures and UnknownLayoutError for everything else, naming
    `source`.
    """
    text = data.decode(errors="replace")
    if failure := _FAILURE.search(text):
        raise DriverFailureError(source, failure[0])
    if is_info(text):
        return parse_info(text, source)
    if is_mapping(text):
        return parse_mapping(text, source)
    if is_listing(text):
        return parse_listing(text, source)
    if is_health(text):
        return parse_health(text, source)
    first = next((line for line in text.splitlines() if line.strip()), "nothing")
    raise UnknownLayoutError(source, first, "output of npu-smi info, info -m, info -l or info -t health")
