"""Tell npu-smi's outputs apart by their content, whatever the file's name."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from npu_assay.device.npu_smi.board import Boards, parse_boards
from npu_assay.device.npu_smi.cut import CutShort
from npu_assay.device.npu_smi.errors import UnknownLayoutError, failure_in
from npu_assay.device.npu_smi.health import HEALTH_KEYS, HealthReport, parse_health
from npu_assay.device.npu_smi.info import Info, is_info, parse_info
from npu_assay.device.npu_smi.keys import keys_in
from npu_assay.device.npu_smi.listing import Listing, parse_listing
from npu_assay.device.npu_smi.mapping import ChipMapping, is_mapping, parse_mapping
from npu_assay.device.npu_smi.phyid_remap import PHYSICAL_ID, PhysicalIdRemap, parse_phyid_remap
from npu_assay.device.npu_smi.process_memory import ProcessMemory, is_process_memory, parse_process_memory
from npu_assay.device.npu_smi.usages import (
    MemoryReport,
    Usages,
    is_memory,
    is_usages,
    parse_memory,
    parse_usages,
)

#: Ten times npu-smi's longest line. A longer one is none of it, and the patterns here would take minutes.
_LONGEST = 2000
#: DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3): before -8005 and -8020, and before good answers too.
_DRIVER_LOG = re.compile(r"\s*Drv\w+ failed\b[^|]*$")
_UNSUPPORTED = re.compile(r"(?:[^:|]*)\b(?:does not|doesn't|is not|not) support(?:ed)?\b[^:|]*")


@dataclass(frozen=True)
class Unsupported:
    """npu-smi's word that this device or driver does not have what was asked for. Nothing was measured."""

    reason: str


Output = (
    Info
    | ChipMapping
    | Listing
    | HealthReport
    | Boards
    | Usages
    | MemoryReport
    | ProcessMemory
    | PhysicalIdRemap
    | Unsupported
)


def _without_driver_log(text: str) -> str:
    """The text with what the driver's library complains of in containers, before npu-smi's own words, blank.

    It says nothing of any die, and lines keep their numbers.
    """
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines):
        if not _DRIVER_LOG.match(line):
            break
        lines[index] = "\n"
    return "".join(lines)


def cut_of(output: Output) -> CutShort | None:
    """Where an output ends, if that is before its end and shows."""
    return output.cut if isinstance(output, Info | Listing) else None


def parse_npu_smi(data: bytes, source: str) -> Output:
    """Read any of the known outputs.

    Raises a NpuSmiError for npu-smi's own failures, UnknownLayoutError for the rest; both name `source`.
    """
    text = data.decode(errors="replace")
    if long := next((line for line in text.splitlines() if len(line) > _LONGEST), None):
        raise UnknownLayoutError(source, long, f"lines of at most {_LONGEST} characters")
    if failure := failure_in(text, source):
        raise failure
    text = _without_driver_log(text)
    if is_info(text):
        return parse_info(text, source)
    if is_mapping(text):
        return parse_mapping(text, source)
    if _UNSUPPORTED.fullmatch(text.strip()):
        return Unsupported(" ".join(text.split()))
    if is_process_memory(text):
        return parse_process_memory(text, source)
    if parse := _by_keys(keys_in(text)):
        return parse(text, source)
    first = next((line for line in text.splitlines() if line.strip()), "nothing")
    raise UnknownLayoutError(
        source,
        first,
        "output of npu-smi info, info -m, -l, or -t health, board, usages, memory, proc-mem or phyid-remap",
    )


def _by_keys(keys: set[str]) -> Callable[[str, str], Output] | None:
    """The parser of `key : value` lines that these keys are of."""
    if "Total Count" in keys:
        return parse_listing
    if keys & HEALTH_KEYS:
        return parse_health
    if PHYSICAL_ID in keys:
        return parse_phyid_remap
    if is_memory(keys):
        return parse_memory
    if is_usages(keys):
        return parse_usages
    if "Board ID" in keys:
        return parse_boards
    return None
