"""How much memory of a device vLLM has for its KV cache, in GiB (2**30 bytes), one line a worker.

Forms, with the versions that print them and the file where they stand:

- `Available KV cache memory: 6.51 GiB`: vLLM to 0.22.1 (read: 0.18.0 and 0.22.1), v1/worker/gpu_worker.py;
  vllm-ascend 0.18.0 and 0.22.1rc1, vllm_ascend/worker/worker.py, and _310p/worker_310p.py of 0.18.0
- `Initial free memory 60.9 GiB, reserved 8.0 GiB memory for KV Cache as specified by kv_cache_memory_bytes
  config and skipped memory profiling. ...`: vLLM 0.18.0 and 0.22.1, v1/worker/gpu_worker.py
- `Initial free memory 60.90 GiB, reserved 8.00 GiB for KV Cache as specified by kv_cache_memory_bytes,
  skipping memory profiling. ...`: vllm-ascend 0.22.1rc1, vllm_ascend/worker/worker.py

What is available may be less than 0: the weights alone are more than gpu_memory_utilization allows.
vllm-ascend 0.18.0 does not know kv_cache_memory_bytes, so its log has no reservation whatever was asked for.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from npu_assay.evidence.vllm_logs.numbers import NUMBER, number
from npu_assay.evidence.vllm_logs.pieces import Piece, Process, UnknownLineError, pieces

_EXPECTED = (
    "'Available KV cache memory: N.NN GiB' or 'reserved N.NN GiB memory for KV Cache as specified by ...'"
)
#: The subject has one of these.
_WORDS = (b"KV cache memory", b"reserved")
#: An error's `larger than the available KV cache memory (0.59 GiB)` is prose, and in small letters.
_SUBJECT = re.compile(r"Available KV cache memory|\breserved\b(?=.{0,40}\bfor KV Cache)")
_AVAILABLE = re.compile(rf"Available KV cache memory: ({NUMBER}) GiB\s*$")
_RESERVED = re.compile(
    rf"reserved ({NUMBER}) GiB (?:memory )?for KV Cache as specified by kv_cache_memory_bytes\b"
)


class Origin(StrEnum):
    PROFILED = "profiled"
    """What memory profiling left."""
    RESERVED = "reserved"
    """What kv_cache_memory_bytes asked for; nothing was profiled."""


@dataclass(frozen=True)
class KvCacheMemory:
    """Of one device."""

    line: int
    process: Process | None
    gib: float
    origin: Origin


def read_kv_cache_memory(chunks: Iterable[bytes], source: str) -> tuple[KvCacheMemory, ...]:
    """Every line of a log that says it, in its order. Raises UnknownLineError."""
    return tuple(
        _memory(piece, subject.start(), source)
        for piece in pieces(chunks, _WORDS)
        for subject in piece.matches(_SUBJECT)
    )


def _memory(piece: Piece, at: int, source: str) -> KvCacheMemory:
    for form, origin in ((_AVAILABLE, Origin.PROFILED), (_RESERVED, Origin.RESERVED)):
        if found := form.match(piece.text, at):
            try:
                return KvCacheMemory(piece.line, piece.process(at), number(found[1]), origin)
            except ValueError:
                break
    raise UnknownLineError(source, piece, at, _EXPECTED)
