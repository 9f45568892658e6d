"""Folders of models, whole ones, in the layouts that people have."""

import json
import struct
from collections.abc import Iterable
from pathlib import Path

CONFIG = {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2"}
LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 3087467144\n"
#: Of every shard, unless a test says otherwise: two floats.
TENSOR_BYTES = 8


def safetensors(names: Iterable[str], tensor_bytes: int = TENSOR_BYTES) -> bytes:
    """A whole file with these tensors."""
    header = {"__metadata__": {"format": "pt"}} | {
        name: {
            "dtype": "F32",
            "shape": [tensor_bytes // 4],
            "data_offsets": [at * tensor_bytes, (at + 1) * tensor_bytes],
        }
        for at, name in enumerate(names)
    }
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(tensor_bytes * (len(header) - 1))


def plant_model(folder: Path, *, shards: int = 1) -> Path:
    """Write a model with one file of weights, or with an index and so many shards."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text('{"model": {}}')
    (folder / "tokenizer_config.json").write_text("{}")
    (folder / "README.md").write_text("no part of it")
    if shards == 1:
        (folder / "model.safetensors").write_bytes(safetensors(["embed", "head"]))
        return folder
    names = [f"model-{number:05}-of-{shards:05}.safetensors" for number in range(1, shards + 1)]
    for number, name in enumerate(names):
        (folder / name).write_bytes(safetensors([f"layer.{number}"]))
    index = {"metadata": {}, "weight_map": {f"layer.{number}": name for number, name in enumerate(names)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def into_hub_cache(folder: Path, cache: Path) -> Path:
    """Move a planted model's files into the layout of huggingface_hub's cache; returns the snapshot."""
    blobs, snapshot = cache / "blobs", cache / "snapshots" / "0123abcd"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for number, path in enumerate(sorted(folder.iterdir())):
        path.rename(blobs / f"{number:040x}")
        (snapshot / path.name).symlink_to(f"../../blobs/{number:040x}")
    return snapshot
