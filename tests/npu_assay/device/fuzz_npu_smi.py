"""What tests/fuzz.py fuzzes of device/: each of npu-smi's parsers alone, all by content, and the joining."""

import dataclasses
from collections.abc import Callable

from fuzz import Target, invented_in_dataclass
from npu_smi_texts import SAMPLES

from npu_assay.device.answers import Answer, Answers
from npu_assay.device.host import join
from npu_assay.device.npu_smi.board import parse_boards
from npu_assay.device.npu_smi.errors import NpuSmiError, UnknownLayoutError
from npu_assay.device.npu_smi.health import parse_health
from npu_assay.device.npu_smi.info import parse_info
from npu_assay.device.npu_smi.listing import parse_listing
from npu_assay.device.npu_smi.mapping import parse_mapping
from npu_assay.device.npu_smi.phyid_remap import parse_phyid_remap
from npu_assay.device.npu_smi.process_memory import parse_process_memory
from npu_assay.device.npu_smi.recognise import parse_npu_smi
from npu_assay.device.npu_smi.usages import parse_memory, parse_usages
from npu_assay.device.overrides import read_log
from npu_assay.device.visible import container_visible, rt_visible
from npu_assay.errors import UsageError


def _invented(result: object, text: str) -> str | None:
    """As in any result; but the number of the line where a text ends does not stand in it."""
    cut = getattr(result, "cut", None)
    if cut is None:
        return invented_in_dataclass(result, text)
    if cut.after_line > len(text.splitlines()) or cut.line not in text:
        return repr(cut)
    return invented_in_dataclass(dataclasses.replace(result, cut=None), text)  # type: ignore[type-var]


SEEDS = tuple(text.encode() for text in SAMPLES.values())
_BY_NAME: dict[str, Callable[[str, str], object]] = {
    "info": parse_info,
    "-m": parse_mapping,
    "-l": parse_listing,
    "health": parse_health,
    "board": parse_boards,
    "usages": parse_usages,
    "memory": parse_memory,
    "proc-mem": parse_process_memory,
    "phyid-remap": parse_phyid_remap,
}


def _seeds(name: str) -> tuple[bytes, ...]:
    return tuple(text.encode() for key, text in SAMPLES.items() if key.startswith(name))


def _of_text(parse: Callable[[str, str], object]) -> Callable[[bytes], object]:
    return lambda data: parse(data.decode(errors="replace"), "fuzzed")


def _join(data: bytes) -> object:
    """Several outputs of one host, apart by a form feed."""
    outputs = (parse_npu_smi(part, "fuzzed") for part in data.split(b"\f"))
    return join(Answers.of_one_host(Answer("fuzzed", output, 0, 0) for output in outputs)).dies


_HOSTS = tuple(
    "\f".join(SAMPLES[name] for name in names).encode()
    for names in (
        ("info A2", "-m A2", "-l", "health"),
        ("info A3", "-m A3", "health of an NPU", "usages, id last", "phyid-remap"),
        ("info 950", "-m 950", "usages 950", "proc-mem"),
        ("info 310P", "board", "memory"),
        ("info of a card with one row", "-l cut short", "-m A2"),
        ("info cut short", "-m A3", "board"),
    )
)
_VALUES = (b"0,1,3", b"0-3,5", b"Ascend910-1,Ascend910-3", b"void", b"1, 2,3")
_LOG = (
    b"npu-health: override NPU_INDEX=3\n"
    b"npu-health: the run sees NPU 0 chip 0\n"
    b"npu-health: looked at NPU 3 chip 0\n",
)

TARGETS = [
    Target(
        "npu-smi by content",
        lambda data: parse_npu_smi(data, "fuzzed"),
        SEEDS,
        (UnknownLayoutError, NpuSmiError),
        _invented,
    ),
    *(
        Target(f"npu-smi {name}", _of_text(parse), _seeds(name), (UnknownLayoutError,), _invented)
        for name, parse in _BY_NAME.items()
    ),
    Target("npu-smi joined", _join, _HOSTS, (UsageError, NpuSmiError)),
    Target(
        "ASCEND_VISIBLE_DEVICES",
        lambda data: container_visible(data.decode(errors="replace")),
        _VALUES,
        (UsageError,),
    ),
    Target(
        "ASCEND_RT_VISIBLE_DEVICES",
        lambda data: rt_visible(data.decode(errors="replace"), range(8)),
        _VALUES,
        (),
    ),
    Target("health log", lambda data: read_log(data.decode(errors="replace").splitlines()), _LOG, ()),
]
