"""Hold a stream up, so that work which doesn't wait for it overtakes it for everyone to see."""

import ctypes
import os
from pathlib import Path

import torch

from support.cann import loaded_cann_libraries

STALL_SYMBOL = "emucann_stall_stream"

# On hardware a chain of matrix products takes the place of the sleep: 2 * 4096^3 operations each, so that 512
# of them keep even a chip of 400 Tflop/s busy for about 0.2 s, far longer than the copies that are tested.
_MATRIX, _PRODUCTS = 4096, 512


def stall_current_stream(milliseconds: int = 1000) -> None:
    """Enqueue work on the current stream that takes long; returns at once.

    On the emulator it lasts `milliseconds`; on hardware as long as `_PRODUCTS` matrix products do.
    """
    stream = torch.npu.current_stream()
    stall = _emulator_stall()
    if stall is not None:
        code = stall(stream.npu_stream, milliseconds * 1000)
        if code != 0:
            raise RuntimeError(f"{STALL_SYMBOL} returned {code}, expected 0")
        return
    matrix = torch.zeros(_MATRIX, _MATRIX, dtype=torch.float16, device="npu")
    product = torch.empty_like(matrix)
    for _ in range(_PRODUCTS):
        torch.mm(matrix, matrix, out=product)


def _emulator_stall() -> "ctypes._NamedFuncPointer | None":
    for path in loaded_cann_libraries():
        if Path(path).name.startswith("libascendcl.so"):
            library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
            function = getattr(library, STALL_SYMBOL, None)
            if function is not None:
                function.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
                function.restype = ctypes.c_int
            return function
    raise RuntimeError("libascendcl.so is not loaded: use the NPU before its stream is stalled")
