"""vllm-ascend's compiled module: which file it is, what it replaces, and whether it fits the torch that is
installed.

A module that was compiled for another torch may load and compute rightly, and still leave a reference to
every tensor behind: vllm-ascend 0.18.0's wheel, compiled for torch 2.9, does on 2.10, where c10's
intrusive_ptr has another layout.
"""

import hashlib
import importlib
import importlib.metadata
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DISTRIBUTION = "vllm-ascend"
MODULE = "vllm_ascend.vllm_ascend_C"
#: What an installation leaves in the dist-info of vllm-ascend when it replaces the module.
NOTE = "npu-assay-rebuilt.json"

CALLS = 64


class WrongBinding(Exception):
    """The module is not what it has to be; the message is one line."""


@dataclass(frozen=True)
class Binding:
    """The module's file, and the note about what it replaces; None for the wheel's own."""

    path: str
    sha256: str
    replaces: dict[str, Any] | None

    def __str__(self) -> str:
        if self.replaces is None:
            return f"{MODULE} {self.path} (sha256 {self.sha256}), as it was installed"
        return (
            f"{MODULE} {self.path} (sha256 {self.sha256}), compiled here for torch {self.replaces['torch']}"
            f" from the source distribution {self.replaces['sdist_sha256']};"
            f" replaces the wheel's {self.replaces['wheel_sha256']}"
        )


def load_binding() -> Binding:
    """Load the module.

    Raises:
        WrongBinding: the file is not the one that the installation made, or it can't be loaded.
    """
    text = importlib.metadata.distribution(DISTRIBUTION).read_text(NOTE)
    note = json.loads(text) if text else None
    package = Path(str(importlib.import_module("vllm_ascend").__file__)).parent
    if note is not None:
        found = _sha256(package.parent / note["library"])
        if found != note["sha256"]:
            raise WrongBinding(
                f"{package.parent / note['library']}: sha256 {found}, expected {note['sha256']},"
                f" which was compiled for torch {note['torch']}; type: npu-assay env install"
            )
    try:
        path = str(importlib.import_module(MODULE).__file__)
    except ImportError as error:
        raise WrongBinding(f"{MODULE} can't be loaded: {error}") from error
    return Binding(path, _sha256(Path(path)), note)


def refuse_lost_references(calls: int = CALLS) -> None:
    """Call an op of the module on the NPU, and count the references to what it was given.

    Raises:
        WrongBinding: calls leave references behind, or break, as they do now and then for the same reason.
    """
    import torch

    cure = f"it was compiled for another torch than {torch.__version__}: build it from source for this one"

    tensors = (torch.ones(2, 8, device="npu"), torch.zeros(2, 8).pin_memory(), torch.tensor([[0, 1]]))
    before = [sys.getrefcount(tensor) for tensor in tensors]
    try:
        for _ in range(calls):
            torch.ops._C_ascend.swap_blocks(*tensors)
        torch.npu.synchronize()
    except RuntimeError as error:
        raise WrongBinding(f"{MODULE} breaks in a call of swap_blocks ({error}); {cure}") from error
    after = [sys.getrefcount(tensor) for tensor in tensors]
    if after != before:
        raise WrongBinding(
            f"{MODULE} corrupts reference counts: {calls} calls of swap_blocks took them from {before}"
            f" to {after}; {cure}"
        )
    if not torch.equal(tensors[1][1], torch.ones(8)):
        raise WrongBinding(f"{MODULE}: swap_blocks copied no block from the NPU to the host")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
