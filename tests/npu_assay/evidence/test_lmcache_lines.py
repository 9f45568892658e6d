"""What is read of LMCache's lines, in every form; a form that nobody knows is an error."""

import pytest
import vllm_log_texts as texts

from npu_assay.evidence.vllm_logs.lmcache import Transfer, Way, read_lmcache
from npu_assay.evidence.vllm_logs.pieces import Process, UnknownLineError

STORED, RETRIEVED = Way.STORED, Way.RETRIEVED


def transfers(text: bytes) -> tuple[Transfer, ...]:
    return read_lmcache([text], "engine.log")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (texts.LMCACHE_STORED_OLD, [(1, None, None, STORED, 0, 512, None)]),
        (texts.LMCACHE_STORED, [(1, Process("EngineCore", 7), "cmpl-1-0", STORED, 256, 300, None)]),
        (texts.LMCACHE_STORED_GROUP, [(1, None, "r", STORED, 256, 256, None)]),
        (texts.LMCACHE_RETRIEVED_OLD, [(1, None, None, RETRIEVED, 128, 256, 512)]),
        (texts.LMCACHE_RETRIEVED, [(1, Process("EngineCore_DP0", 494270), None, RETRIEVED, 8, 24, 32)]),
        (texts.LMCACHE_RETRIEVED_REQUEST, [(1, None, "cmpl-1-0", RETRIEVED, 256, 256, 300)]),
        (
            texts.LMCACHE_LAYERS,
            [
                (1, None, "r", RETRIEVED, 256, 256, 300),
                (2, None, None, RETRIEVED, 256, None, None),
                (3, None, None, RETRIEVED, 256, None, None),
            ],
        ),
        (
            texts.LMCACHE_PROCESSES,
            [(1, None, None, STORED, 2048, None, None), (2, None, None, RETRIEVED, 768, None, None)],
        ),
        (texts.LMCACHE_INTENTIONS, []),
        (b"ERROR The number of retrieved tokens is less than the expected number of tokens!\n", []),
        (b"INFO Retrieved 3 files\n", []),
    ],
)
def test_every_form(text, read):
    assert transfers(text) == tuple(Transfer(*one) for one in read)


@pytest.mark.parametrize(
    ("text", "partial"),
    [
        (texts.LMCACHE_RETRIEVED_REQUEST, False),
        (texts.LMCACHE_RETRIEVED, True),
        (texts.LMCACHE_STORED, True),
        (texts.LMCACHE_PROCESSES, None),
    ],
)
def test_a_transfer_is_partial_only_where_the_line_says_how_many_there_were(text, partial):
    assert transfers(text)[0].partial is partial


def test_several_lines_of_one_request_are_all_kept_in_order():
    once = transfers(texts.LMCACHE_STORED + texts.LMCACHE_RETRIEVED_REQUEST)
    assert [(one.way, one.tokens, one.request) for one in once] == [
        (STORED, 256, "cmpl-1-0"),
        (RETRIEVED, 256, "cmpl-1-0"),
    ]
    again = texts.LMCACHE_STORED.replace(b"Stored 256", b"Stored 44")
    twice = transfers(texts.LMCACHE_STORED + again + texts.LMCACHE_RETRIEVED_REQUEST)
    assert [(one.line, one.tokens) for one in twice] == [(1, 256), (2, 44), (3, 256)]


@pytest.mark.parametrize(
    "line",
    [
        "LMCache INFO: Stored/updated 1 chunks, total time 0.00s",  # 0.1.3
        "LMCache INFO: Stored pre-computed doc with 256 tokens, num stored chunks: 1",  # 0.4.4's blend server
        "LMCache INFO: Stored N/A out of total 300 tokens. size: 1 GB",
        "LMCache INFO: Stored 256 out of total 300 chunks",
        "Stored 256 of 300 tokens",
        "Stored 2,56 out of total 300 tokens.",
        "Stored 99999999999999999999 out of total 300 tokens.",
        "Retrieved 8 out of 24 required tokens",
        "Retrieved 8 tokens of 24",
        "Retrieved -8 tokens",
        "Retrieved 8 out of 24 required tokens (from ? total tokens).",
    ],
)
def test_an_unknown_form_is_an_error_that_quotes_it(line):
    assert len(transfers(texts.LMCACHE_STORED)) == 1
    with pytest.raises(UnknownLineError) as error:
        transfers(texts.LMCACHE_STORED + line.encode())
    assert str(error.value).startswith("engine.log:2: expected 'Stored N out of total N tokens'")
    assert line in str(error.value)
