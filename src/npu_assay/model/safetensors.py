"""The header of a .safetensors file: which tensors it has, and how long it must be.

Eight bytes (a little-endian number N), N bytes of JSON (name -> dtype, shape, data_offsets [begin, end] from
the end of the header; `__metadata__` is no tensor), then the data, which ends with the file
(huggingface/safetensors, README, "Format"; its reader takes headers of 100 MB at most).
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npu_assay.errors import UsageError

_LENGTH_BYTES = 8
_MOST_HEADER_BYTES = 100_000_000


@dataclass(frozen=True)
class Header:
    """What a header says."""

    tensors: frozenset[str]
    file_bytes: int
    """Of the whole file."""


def parse_header(data: bytes) -> Header:
    """Read a header: the file's first bytes, up to the header's end. Raises ValueError with what is wrong."""
    length = int.from_bytes(data[:_LENGTH_BYTES], "little")
    try:
        header = json.loads(data[_LENGTH_BYTES : _LENGTH_BYTES + length])
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its header is no JSON ({error})") from error
    if not isinstance(header, dict):
        raise ValueError("its header is no JSON object")
    tensors = {name: value for name, value in header.items() if name != "__metadata__"}
    if not tensors:
        raise ValueError("its header names no tensor")
    end = max(_end_of(name, value) for name, value in tensors.items())
    return Header(frozenset(tensors), _LENGTH_BYTES + length + end)


def _end_of(name: str, tensor: Any) -> int:
    offsets = tensor.get("data_offsets") if isinstance(tensor, dict) else None
    match offsets:
        case [int(begin), int(end)] if 0 <= begin <= end:
            return end
        case _:
            raise ValueError(f"its header has no data_offsets [begin, end] for {name!r}, but {offsets}")


def check_safetensors(path: Path) -> Header:
    """Read a file's header and hold its length against it. Raises UsageError for a file that is not whole."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(_LENGTH_BYTES)
        length = int.from_bytes(start, "little")
        if size < _LENGTH_BYTES or length > _MOST_HEADER_BYTES:
            raise UsageError(f"{path}: no safetensors file, by its first bytes {start!r}")
        if size < _LENGTH_BYTES + length:
            raise UsageError(_cut(path, size, f"its header alone ends at {_LENGTH_BYTES + length}"))
        start += file.read(length)
    try:
        header = parse_header(start)
    except ValueError as error:
        raise UsageError(f"{path}: {error}; download the model again") from error
    if size < header.file_bytes:
        raise UsageError(_cut(path, size, f"its header says {header.file_bytes}"))
    if size > header.file_bytes:
        raise UsageError(
            f"{path}: {size} bytes, but its header says {header.file_bytes}; download the model again"
        )
    return header


def _cut(path: Path, size: int, expected: str) -> str:
    return f"{path}: cut short at {size} bytes, {expected}; download the model again"
