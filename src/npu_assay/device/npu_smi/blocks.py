"""`npu-smi info -l` and `npu-smi info -t health`: blocks of `key : value` lines."""

from dataclasses import dataclass

from npu_assay.device.npu_smi.errors import UnknownLayoutError

#: `-i` alone says Health, `-i` with `-c` says Health Status.
_HEALTH_KEYS = ("Health", "Health Status")

Block = dict[str, str]


@dataclass(frozen=True)
class ListedNpu:
    """One NPU of `npu-smi info -l`."""

    npu_id: int
    chip_count: int


@dataclass(frozen=True)
class Listing:
    """All NPUs of `npu-smi info -l`."""

    npus: tuple[ListedNpu, ...]


@dataclass(frozen=True)
class HealthReport:
    """`npu-smi info -t health`, the NPU's own block; a controller's block after it is dropped."""

    status: str
    error_code: str
    error_information: str


def is_listing(text: str) -> bool:
    """Whether this is the output of `npu-smi info -l`."""
    return text.lstrip().startswith("Total Count")


def is_health(text: str) -> bool:
    """Whether this is the output of `npu-smi info -t health`."""
    return any(line.partition(":")[0].strip() in _HEALTH_KEYS for line in text.splitlines() if ":" in line)


def parse_listing(text: str, source: str) -> Listing:
    """Read `npu-smi info -l`. Raises UnknownLayoutError, also when fewer NPUs follow than it announces."""
    total, *blocks = _blocks(text, source, first_key="NPU ID") or [{}]
    try:
        npus = tuple(ListedNpu(int(block["NPU ID"]), int(block["Chip Count"])) for block in blocks)
        announced = int(total["Total Count"])
    except (KeyError, ValueError) as error:
        expected = "numbers for Total Count, NPU ID and Chip Count"
        raise UnknownLayoutError(source, str(error), expected) from error
    if len(npus) != announced or not npus:
        raise UnknownLayoutError(source, f"{len(npus)} blocks", f"{announced} NPUs, at least one")
    return Listing(npus)


def parse_health(text: str, source: str) -> HealthReport:
    """Read `npu-smi info -t health -i N`, with or without `-c M`. Raises UnknownLayoutError."""
    for block in _blocks(text, source, first_key=""):
        for key in _HEALTH_KEYS:
            if key in block:
                return HealthReport(
                    block[key], block.get("Error Code", ""), block.get("Error Information", "")
                )
    raise UnknownLayoutError(source, text.partition("\n")[0], " or ".join(_HEALTH_KEYS))


def _blocks(text: str, source: str, first_key: str) -> list[Block]:
    """Blocks of keys and values: a new one begins at `first_key`, or where a key comes a second time."""
    blocks: list[Block] = [{}]
    for line in text.splitlines():
        if not line.strip():
            continue
        key, colon, value = line.partition(":")
        if not colon:
            raise UnknownLayoutError(source, line, "key : value")
        key = key.strip()
        if key == first_key or key in blocks[-1]:
            blocks.append({})
        blocks[-1][key] = value.strip()
    return blocks
