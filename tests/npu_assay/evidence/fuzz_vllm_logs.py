"""What tests/fuzz.py fuzzes of evidence/: every reader of vLLM's and LMCache's lines."""

import dataclasses
import io
from collections.abc import Callable, Iterable, Iterator

import vllm_log_texts as texts
from fuzz import Target

from npu_assay.errors import UsageError
from npu_assay.evidence.bounded import bounded
from npu_assay.evidence.terminal import without_colours
from npu_assay.evidence.vllm_logs.bench_serve import read_serve_results, read_serve_summaries
from npu_assay.evidence.vllm_logs.bench_throughput import read_throughput_result, read_throughput_summaries
from npu_assay.evidence.vllm_logs.cached_tokens import NotMeasured, read_cached_tokens
from npu_assay.evidence.vllm_logs.kv_cache_memory import Origin, read_kv_cache_memory
from npu_assay.evidence.vllm_logs.kv_cache_size import Unit, read_kv_cache_size
from npu_assay.evidence.vllm_logs.lmcache import read_lmcache

Read = Callable[[Iterable[bytes], str], object]


def invented(result: object, text: str) -> str | None:
    """A number or name that does not stand in the text; thousands separators and zeros at the end apart."""
    together = "".join(without_colours(text).replace(",", "").split())
    for value in _values(result):
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if "".join(str(value).replace(",", "").split()) not in together:
            return repr(value)
    return None


def _values(value: object) -> Iterator[object]:
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name != "line":  # counted, not read
                yield from _values(getattr(value, field.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from _values(one)
    elif value is not None and not isinstance(value, bool | NotMeasured | Origin | Unit):
        yield value


def _of_bytes(read: Read) -> Callable[[bytes], object]:
    def parse(data: bytes) -> object:
        result = read(bounded(io.BytesIO(data)), "fuzzed")
        return tuple(result) if isinstance(result, Iterator) else result

    return parse


def _json_invented(result: object, text: str) -> str | None:
    """Of JSON only what the types say is certain: 1e2 stands for 100.0."""
    for value in _values(result):
        if isinstance(value, float) and not abs(value) < float("inf"):
            return repr(value)
        if isinstance(value, int) and value < 0:
            return repr(value)
    return None


READERS: list[tuple[str, Read, tuple[bytes, ...]]] = [
    ("vllm KV cache size", read_kv_cache_size, texts.KV_CACHE_SIZE),
    ("vllm KV cache memory", read_kv_cache_memory, texts.KV_CACHE_MEMORY),
    ("LMCache", read_lmcache, texts.LMCACHE),
    ("vllm bench serve", read_serve_summaries, texts.SERVES),
    ("vllm bench throughput", read_throughput_summaries, texts.THROUGHPUTS),
]
JSON_READERS: list[tuple[str, Read, tuple[bytes, ...]]] = [
    ("vllm bench serve, JSON", read_serve_results, (texts.SERVE_JSON,)),
    ("vllm bench throughput, JSON", read_throughput_result, (texts.THROUGHPUT_JSON,)),
    ("vllm usage", read_cached_tokens, (texts.USAGE,)),
]

TARGETS = [
    *(Target(name, _of_bytes(read), seeds, (UsageError,), invented) for name, read, seeds in READERS),
    *(
        Target(name, _of_bytes(read), seeds, (UsageError,), _json_invented)
        for name, read, seeds in JSON_READERS
    ),
]
