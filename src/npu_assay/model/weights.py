"""The files that hold a model's weights, as vLLM chooses them: safetensors before PyTorch's own format, and
of several files those that an index names (vllm/model_executor/model_loader/default_loader.py)."""

import re
import zipfile
from pathlib import Path, PurePosixPath

from npu_assay.errors import UsageError
from npu_assay.model.files import check_file, read_object
from npu_assay.model.safetensors import check_safetensors

_ZIP = b"PK\x03\x04"
_SHARD = re.compile(r"(.*-)\d{5}(-of-(\d{5})\..*)")


def weights_of(folder: Path) -> tuple[str, ...]:
    """The names of index and weights in the folder, each of which is whole.

    Raises UsageError for a shard that is missing, cut short, or without a tensor that the index looks for in
    it; and where there are no weights at all.
    """
    for pattern, checked in (("*.safetensors", _check_safetensors), ("pytorch_model*.bin", _check_pickle)):
        names = sorted(path.name for path in folder.glob(pattern))
        indices = sorted(path.name for path in folder.glob(f"{pattern}.index.json"))
        if indices:
            index = "model.safetensors.index.json"
            index = index if index in indices else indices[0]
            tensors = _read_index(folder / index)
            for name, wanted in tensors.items():
                checked(folder / name, wanted)
            return (index, *tensors)
        if names:
            for name in sorted({*names, *_siblings(names)}):
                checked(folder / name, frozenset())
            return tuple(names)
    raise UsageError(
        f"{folder}: no weights; expected model.safetensors, or model.safetensors.index.json with its shards"
    )


def _siblings(names: list[str]) -> set[str]:
    """All shards of what is in shards by its name, such as model-00001-of-00002.safetensors."""
    found = [shard for name in names if (shard := _SHARD.fullmatch(name))]
    return {f"{one[1]}{number:05}{one[2]}" for one in found for number in range(1, int(one[3]) + 1)}


def _read_index(path: Path) -> dict[str, frozenset[str]]:
    """The shards of an index, and which tensors it looks for in each."""
    weight_map = read_object(path).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise UsageError(f"{path}: no weight_map that names shards; download the model again")
    shards: dict[str, set[str]] = {}
    for tensor, name in weight_map.items():
        if not isinstance(name, str) or PurePosixPath(name).name != name or name in ("", ".", ".."):
            raise UsageError(f"{path}: {name!r} is no file of this folder, but has {tensor}")
        shards.setdefault(name, set()).add(tensor)
    return {name: frozenset(shards[name]) for name in sorted(shards)}


def _check_safetensors(path: Path, wanted: frozenset[str]) -> None:
    check_file(path)
    if missing := wanted - check_safetensors(path).tensors:
        raise UsageError(
            f"{path}: has no {min(missing)}, which the index looks for in it; download the model again"
        )


def _check_pickle(path: Path, wanted: frozenset[str]) -> None:
    """Nothing is unpickled. torch.save writes a zip, whose directory stands at its end."""
    check_file(path)
    with path.open("rb") as file:
        is_zip = file.read(len(_ZIP)) == _ZIP
    if is_zip and not zipfile.is_zipfile(path):
        raise UsageError(f"{path}: cut short, its end is missing; download the model again")
