"""Whatever the bytes, a reader returns or raises what its documentation names, and loses no value."""

import io

import pytest
import vllm_log_texts as texts
from fuzz_vllm_logs import TARGETS
from hypothesis import given
from hypothesis import strategies as st

from npu_assay.errors import UsageError
from npu_assay.evidence.bounded import bounded
from npu_assay.evidence.vllm_logs.kv_cache_memory import read_kv_cache_memory
from npu_assay.evidence.vllm_logs.kv_cache_size import read_kv_cache_size
from npu_assay.evidence.vllm_logs.lmcache import read_lmcache
from npu_assay.evidence.vllm_logs.pieces import pieces

COUNTS = st.integers(0, 10**15 - 1)
LINES = [
    *(texts.KV_TOKENS + texts.KV_BLOCKS + texts.KV_HYBRID + texts.KV_ONE_LINE).splitlines(keepends=True),
    *(
        texts.MEMORY,
        texts.MEMORY_NEGATIVE,
        texts.LMCACHE_STORED,
        texts.LMCACHE_RETRIEVED,
        b"\n",
        b"a bar 5%\r",
    ),
]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@given(data=st.data())
def test_any_bytes_are_read_or_refused(target, data):
    text = data.draw(
        st.binary(max_size=300)
        | st.lists(st.sampled_from([*target.seeds, b"\r", b"\x1b[", b"\xff", b"tokens"])).map(b"".join)
    )
    problem = None
    try:
        result = target.parse(text)
    except UsageError as error:
        problem = str(error)
    if problem is None:
        assert target.invented(result, text.decode(errors="replace")) is None
    else:
        assert problem.isprintable()


@given(COUNTS, st.booleans())
def test_thousands_separators_change_no_value(number, grouped):
    text = f"GPU KV cache size: {number:,} tokens\n" if grouped else f"GPU KV cache size: {number} tokens\n"
    (size,) = read_kv_cache_size([text.encode()], "a.log").sizes
    assert size.count == number


@given(st.text("0123456789,", min_size=1, max_size=12))
def test_only_whole_groups_of_three_are_a_number(number):
    line = f"GPU KV cache size: {number} tokens".encode()
    digits = number.replace(",", "")
    well_formed = digits.isdigit() and number in (digits, _grouped(digits))
    if well_formed:
        assert [size.count for size in read_kv_cache_size([line], "a.log").sizes] == [int(digits)]
    else:
        with pytest.raises(UsageError, match=r"^a\.log:1: "):
            read_kv_cache_size([line], "a.log")


def _grouped(digits: str) -> str:
    """`0001` is `0,001`: zeros in front are kept."""
    first = len(digits) % 3 or 3
    return ",".join([digits[:first], *(digits[at : at + 3] for at in range(first, len(digits), 3))])


@given(st.permutations(LINES))
def test_the_order_of_lines_changes_the_order_alone(lines):
    def read(lines: list[bytes]) -> list[list[object]]:
        data = b"".join(lines)
        size = read_kv_cache_size([data], "a.log")
        memory, transfers = read_kv_cache_memory([data], "a.log"), read_lmcache([data], "a.log")
        for one in (size.sizes, size.concurrencies, memory, transfers):
            assert [entry.line for entry in one] == sorted(entry.line for entry in one)
        return [
            sorted((one.count, one.unit) for one in size.sizes),
            sorted((one.tokens, one.times) for one in size.concurrencies),
            sorted(one.gib for one in memory),
            sorted((one.way, one.tokens) for one in transfers),
        ]

    assert read(lines) == read(LINES)


@given(st.lists(st.sampled_from([*LINES, b"x" * 40_000])), st.integers(1, 5000))
def test_how_a_log_is_cut_into_chunks_changes_nothing(lines, size):
    data = b"".join(lines)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    whole = [(one.line, one.process, one.count) for one in read_kv_cache_size([data], "a.log").sizes]
    # A colour at its end keeps a line from being skipped.
    coloured = [data.replace(b"\n", b"\x1b[0m\n")]
    for cut in (chunks, bounded(io.BytesIO(data)), coloured):
        assert [(one.line, one.process, one.count) for one in read_kv_cache_size(cut, "a.log").sizes] == whole
    assert all(piece.text for piece in pieces(chunks))
