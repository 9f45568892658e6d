"""Ops of the emulated CANN that can't be had as aclnn functions, put at PyTorch's dispatcher.

They are in libemucann_ops.so beside this file (atb.cpp says of each why it is there). The library registers
them when it is loaded, which has to come after torch_npu's own registration: `load` is called by PyTorch's
backend autoloading (entry point group torch.backends) and, where that is switched off, by vLLM's plug-ins
(vllm.general_plugins).
"""

import functools
import pathlib


@functools.cache
def load() -> None:
    """Register the ops, once. Raises OSError if the library does not fit the installed torch."""
    import torch
    import torch_npu  # noqa: F401  (registers its own ops, which ours replace)

    torch.ops.load_library(str(pathlib.Path(__file__).with_name("libemucann_ops.so")))
