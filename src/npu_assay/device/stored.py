"""Stored npu-smi output: files and folders, each file told by its content."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from npu_assay.device.npu_smi.blocks import HealthReport, Listing
from npu_assay.device.npu_smi.info import Info
from npu_assay.device.npu_smi.mapping import ChipMapping
from npu_assay.device.npu_smi.recognise import Output, parse_npu_smi
from npu_assay.errors import UsageError


@dataclass(frozen=True)
class Outputs:
    """What npu-smi said of one host. `health` is by source: a health report does not name its chip."""

    info: Info
    mapping: ChipMapping | None
    listing: Listing | None
    health: dict[str, HealthReport]


def read_outputs(paths: Iterable[Path]) -> Outputs:
    """Read stored output of one host; a folder stands for its .txt files.

    Raises UsageError for what can't be read, UnusableError where npu-smi itself had failed.
    """
    files = [file for path in paths for file in (sorted(path.glob("*.txt")) if path.is_dir() else [path])]
    parsed: dict[str, Output] = {}
    for file in files:
        try:
            data = file.read_bytes()
        except OSError as error:
            raise UsageError(f"{file}: can't be read ({error.strerror})") from error
        parsed[str(file)] = parse_npu_smi(data, str(file))
    return collect(parsed)


def collect(parsed: dict[str, Output]) -> Outputs:
    """Put one host's outputs together, by source: exactly one `info`, at most one `-m` and one `-l`."""
    infos = {source: output for source, output in parsed.items() if isinstance(output, Info)}
    mappings = {source: output for source, output in parsed.items() if isinstance(output, ChipMapping)}
    listings = {source: output for source, output in parsed.items() if isinstance(output, Listing)}
    for kind, found in (("info", infos), ("info -m", mappings), ("info -l", listings)):
        if len(found) > 1:
            raise UsageError(f"{' and '.join(found)} both hold npu-smi {kind}; give the output of one host")
    if not infos:
        raise UsageError(f"no npu-smi info among {', '.join(parsed) or 'no files'}; health needs its table")
    return Outputs(
        info=next(iter(infos.values())),
        mapping=next(iter(mappings.values()), None),
        listing=next(iter(listings.values()), None),
        health={source: output for source, output in parsed.items() if isinstance(output, HealthReport)},
    )
