"""What is read of KV cache sizes and memory, in every form; a form that nobody knows is an error."""

import pytest
import vllm_log_texts as texts

from npu_assay.evidence.vllm_logs.kv_cache_memory import KvCacheMemory, Origin, read_kv_cache_memory
from npu_assay.evidence.vllm_logs.kv_cache_size import (
    Concurrency,
    KvCacheLines,
    KvCacheSize,
    Unit,
    read_kv_cache_size,
)
from npu_assay.evidence.vllm_logs.pieces import Process, UnknownLineError


def sizes(text: bytes) -> KvCacheLines:
    return read_kv_cache_size([text], "engine.log")


def tokens(line: int, count: int, process: Process | None = None) -> KvCacheSize:
    return KvCacheSize(line, process, count, Unit.TOKENS)


CORE_0, CORE_1 = Process("EngineCore_DP0", 1), Process("EngineCore_DP1", 2)


@pytest.mark.parametrize(
    ("text", "read", "concurrencies"),
    [
        (
            texts.KV_V0,
            (KvCacheSize(2, None, 1478, Unit.BLOCKS, 2048),),
            (Concurrency(3, None, 29000, 0.82),),
        ),
        (texts.KV_V0_NPU, (KvCacheSize(1, None, 2048, Unit.BLOCKS, 512),), ()),
        (
            texts.KV_BLOCKS,
            (KvCacheSize(1, None, 127626, Unit.BLOCKS),),
            (Concurrency(2, None, 2048, 997.08),),
        ),
        (texts.KV_TOKENS, (tokens(1, 2042016),), (Concurrency(2, None, 2048, 997.08),)),
        (texts.KV_HYBRID, (tokens(1, 290864),), (Concurrency(2, None, 32768, 33.04),)),
        (texts.KV_ONE_LINE, (tokens(1, 1553140),), (Concurrency(1, None, 1000000, 1.55),)),
        (texts.KV_TWO_IN_A_BOOT, (tokens(1, 739536), tokens(2, 735440)), ()),
        (
            texts.KV_ENGINES,
            (tokens(4, 317136, CORE_0), tokens(5, 317008, CORE_1)),
            (Concurrency(6, CORE_1, 3072, 103.19), Concurrency(7, CORE_0, 3072, 103.23)),
        ),
        (b"INFO nothing of it\n", (), ()),
    ],
)
def test_every_form_of_the_size(text, read, concurrencies):
    assert sizes(text) == KvCacheLines(read, concurrencies)


def test_different_values_are_all_there():
    assert sizes(texts.KV_TOKENS * 2).values() == {(2042016, Unit.TOKENS)}
    assert sizes(texts.KV_TWO_IN_A_BOOT).values() == {(739536, Unit.TOKENS), (735440, Unit.TOKENS)}
    # The same number of blocks and of tokens is not the same size.
    assert len(sizes(b"# GPU blocks: 128\nGPU KV cache size: 128 tokens\n").values()) == 2


@pytest.mark.parametrize(
    ("text", "doubts"),
    [
        (texts.KV_TOKENS, 0),
        (texts.KV_ONE_LINE, 0),
        (texts.KV_ENGINES, 0),
        (texts.KV_BLOCKS, 0),
        # A request of 1000 tokens takes eight blocks of 128.
        (
            b"GPU KV cache size: 128,000 tokens\nMaximum concurrency for 1,000 tokens per request: 125.00x\n",
            0,
        ),
        (texts.KV_HYBRID, 1),
        (texts.KV_TOKENS + texts.KV_HYBRID + texts.KV_TOKENS, 1),
        # The size of one engine is not held against another engine's concurrency.
        (texts.KV_ENGINES.replace(b"103.19x", b"206.38x"), 1),
    ],
)
def test_a_size_that_does_not_go_with_the_concurrency_is_doubted(text, doubts):
    assert len(list(sizes(text).doubts())) == doubts


def test_a_doubt_names_both_lines():
    assert [str(doubt) for doubt in sizes(texts.KV_HYBRID).doubts()] == [
        "line 1 says 290864 tokens, but line 2 says 33.04 times 32768: "
        "a hybrid model's size is wrong in some versions (vllm#40691)"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "GPU KV cache size: 12,34 tokens",
        "GPU KV cache size: 1,234,5 tokens",
        "GPU KV cache size: ,234 tokens",
        "GPU KV cache size: 1.234 tokens",
        "GPU KV cache size: -1 tokens",
        "GPU KV cache size: \u0663 tokens",
        "GPU KV cache size: nan tokens",
        "GPU KV cache size: 1,234",
        "GPU KV cache size: 1,234 blocks",
        "GPU KV cache size: 4.5 GiB",
        "GPU KV cache size = 1,234 tokens",
        "GPU KV cache size: 1,234 tokens per layer",
        "GPU KV cache size: 1,234 tokens [repeated 3x across cluster]",
        "GPU KV cache size: 1,234 tokens, Maximum concurrency for 2,048 requests: 1.00x",
        "Maximum concurrency for 2,048 tokens per request: infx",
        "Maximum concurrency for 2,048 tokens per request: 1.5.5x",
        "Maximum concurrency for 2,048 tokens per request: 1.5",
        "# GPU blocks: 1,2",
        "# GPU blocks: 1478, # CPU blocks: many",
        "# GPU blocks 1478",
        "GPU KV cache size: 99999999999999999999 tokens",
    ],
)
def test_an_unknown_form_of_the_size_is_an_error_that_quotes_it(line):
    assert len(sizes(texts.KV_TOKENS).sizes) == 1
    with pytest.raises(UnknownLineError) as error:
        sizes(texts.KV_TOKENS + b"(A pid=1) INFO " + line.encode() + b"\n")
    assert str(error.value).startswith("engine.log:3: expected '# GPU blocks: N'")
    assert line in str(error.value)


def memory(text: bytes) -> tuple[KvCacheMemory, ...]:
    return read_kv_cache_memory([text], "engine.log")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (texts.MEMORY, [(1, Process("EngineCore_DP0", 1133552), 6.51, Origin.PROFILED)]),
        (texts.MEMORY_NEGATIVE, [(1, None, -23.55, Origin.PROFILED)]),
        (texts.MEMORY_RESERVED, [(1, None, 8.0, Origin.RESERVED)]),
        (texts.MEMORY_RESERVED_ASCEND, [(1, None, 8.0, Origin.RESERVED)]),
        (
            texts.KV_ENGINES,
            [
                (1, Process("Worker_TP0", 11), 52.36, Origin.PROFILED),
                (2, Process("Worker_TP1", 12), 52.4, Origin.PROFILED),
            ],
        ),
        (texts.MEMORY_ERROR, []),
    ],
)
def test_every_form_of_the_memory(text, read):
    assert memory(text) == tuple(KvCacheMemory(*one) for one in read)


@pytest.mark.parametrize(
    "line",
    [
        "Available KV cache memory: nan GiB",
        "Available KV cache memory: 6.51 GB",
        "Available KV cache memory: 6.51",
        "Available KV cache memory: 6,51 GiB",
        "Available KV cache memory: 6.51 GiB of 60 GiB",
        "Available KV cache memory = 6.51 GiB",
        "Initial free memory 60 GiB, reserved 8 GB memory for KV Cache as specified by kv_cache_memory_bytes",
        "Initial free memory 60.9 GiB, reserved 8.0 GiB memory for KV Cache",
    ],
)
def test_an_unknown_form_of_the_memory_is_an_error(line):
    assert len(memory(texts.MEMORY)) == 1
    with pytest.raises(
        UnknownLineError, match=r"^engine\.log:2: expected 'Available KV cache memory: N\.NN GiB'"
    ):
        memory(texts.MEMORY + line.encode())
