"""What is read of a response's usage: null is not 0, and nothing but a count is a count."""

import json

import pytest
import vllm_log_texts as texts

from npu_assay.errors import UsageError
from npu_assay.evidence.vllm_logs.cached_tokens import CachedTokens, NotMeasured, read_cached_tokens


def cached(text: bytes) -> list[CachedTokens]:
    return list(read_cached_tokens([text], "usage.jsonl"))


def test_null_and_missing_are_not_measured_and_0_is_0():
    assert [(one.line, one.prompt_tokens, one.cached) for one in cached(texts.USAGE)] == [
        (1, 24, 16),
        (2, 25, NotMeasured.NULL_DETAILS),
        (3, 25, NotMeasured.NO_DETAILS),
        (4, 25, NotMeasured.NO_COUNT),
        (5, 25, NotMeasured.NULL_COUNT),
        (6, 25, 0),
        (7, 30, 29),
    ]
    assert cached(texts.USAGE)[1].cached != 0
    assert cached(b"") == []


def usage(**values: object) -> bytes:
    return json.dumps({"usage": {"prompt_tokens": 25, **values}}).encode()


def details(count: object) -> bytes:
    return usage(prompt_tokens_details={"cached_tokens": count})


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            details("16"),
            "usage.prompt_tokens_details.cached_tokens to be a whole number of at least 0, found '16'",
        ),
        (details(16.0), "found 16.0"),
        (details(True), "found True"),
        (details(-1), "found -1"),
        (details([16]), r"found \[16\]"),
        (details(26), "expected at most the 25 tokens of the prompt to be cached, found 26"),
        (details(float("nan")), "NaN is no JSON number"),
        (usage(prompt_tokens_details=16), "usage.prompt_tokens_details to be an object, found 16"),
        (usage(prompt_tokens_details=[]), r"usage.prompt_tokens_details to be an object, found \[\]"),
        (usage(prompt_tokens=None), "usage.prompt_tokens to be a whole number of at least 0, found None"),
        (
            b'{"usage": {}}',
            "a whole number of at least 0 as usage.prompt_tokens, which is missing; found nothing",
        ),
        (b'{"usage": null}', "usage to be an object, found None"),
        (b'{"id": "cmpl-1"}', "an object as usage, which is missing; found id"),
        (b'{"usage": {}, "usage": {}}', "a key stands twice"),
        (b"[]", "expected a JSON object"),
        (b"", "expected one JSON object"),
        (b"{", "expected one JSON object"),
        (b"[" * 100_000, "expected one JSON object"),
        (b'{"usage": {"prompt_tokens": 1' + b"0" * 5000 + b"}}", "expected one JSON object"),
    ],
)
def test_another_type_is_an_error_with_file_and_line(row, problem):
    assert cached(details(16) + b"\n" + details(25))[1].cached == 25
    with pytest.raises(UsageError, match=problem) as error:
        cached(details(16) + b"\n" + row + b"\n" + details(16))
    assert str(error.value).startswith("usage.jsonl:2: expected ")
    assert str(error.value).isprintable()
