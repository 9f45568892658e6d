"""What `run` says of its model, and what goes into the manifest of it."""

import time

from rich.console import Console

from npu_assay.evidence.manifest import ModelRecord
from npu_assay.evidence.record import FileRecord
from npu_assay.model.folder import Model, hash_files


def say_model(console: Console, model: Model | None) -> None:
    """One line about which model it is; None: the suites make one."""
    if model is None:
        _say(console, "model: a tiny one with random weights; --model DIR takes yours")
    else:
        _say(console, f"model: {model.architectures[0]}, {len(model.files)} files, {_size(model.size)}")


def record_model(console: Console, model: Model) -> ModelRecord:
    """Read every file that counts, once. Raises UsageError for one that can't be read any more."""
    began = time.monotonic()
    with console.status("model") as status:  # shown on a terminal only
        hashes = hash_files(model, lambda name: status.update(f"model: sha256 of {name}"))
    _say(console, f"model: sha256 of its files taken in {time.monotonic() - began:.1f} s")
    return ModelRecord(
        path=str(model.folder),
        architectures=model.architectures,
        model_type=model.model_type,
        files={
            name: FileRecord(sha256=sha256, size=(model.folder / name).stat().st_size)
            for name, sha256 in hashes.items()
        },
    )


def _say(console: Console, line: str) -> None:
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
