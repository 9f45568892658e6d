"""The same prompt, the same token ids."""

import json

import pytest

from npu_assay.comparison.tokens import compare_tokens, read_answers
from npu_assay.errors import UsageError

ROUND = {
    "backend": "native",
    "prompt_sha256": "ab" * 32,
    "cold_token_ids": [1, 2, 3],
    "external_token_ids": [1, 2, 3],
}
CPU = {"prompt_tokens": 7, "npu_token_ids": [5, 6], "cpu_token_ids": [5, 6]}
EXAMPLE = {
    "case": "baseline",
    "dataset": "gsm8k",
    "index": 3,
    "prompt_hash": "cd" * 32,
    "output_token_ids": [9, 8],
}
FILES = {"kv-offload": ROUND, "tokens-equal-cpu": CPU, "accuracy-examples": EXAMPLE}


def read(tmp_path, **changed):
    """The answers of three files; `changed` are fields, in whichever file has them."""
    for name, row in FILES.items():
        values = row | {field: value for field, value in changed.items() if field in row}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(values) + "\n")
    return read_answers(tmp_path, "run")


def test_answers_of_every_file_are_compared(tmp_path):
    found = compare_tokens(read(tmp_path), read(tmp_path), "")
    assert [(one.subject, one.equal, one.differing) for one in found.subjects] == [
        ("kv-offload native, cold", 1, ()),
        ("kv-offload native, external", 1, ()),
        ("tokens-equal-cpu, NPU", 1, ()),
        ("tokens-equal-cpu, CPU", 1, ()),
        ("accuracy gsm8k, baseline", 1, ()),
    ]
    assert found.compared
    assert list(found.regressions) == []


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        (
            {"external_token_ids": [1, 2, 4]},
            "tokens of kv-offload native, external: 1 of 1 answers differ, first prompt abababababababab at "
            "token 2: 3 and 4",
        ),
        (
            {"cold_token_ids": [1, 2]},
            "tokens of kv-offload native, cold: 1 of 1 answers differ, first prompt abababababababab at "
            "token 2: 3 and the end",
        ),
        (
            {"npu_token_ids": [5, 6, 7]},
            "tokens of tokens-equal-cpu, NPU: 1 of 1 answers differ, first prompt 1 of 7 tokens at "
            "token 2: the end and 7",
        ),
        (
            {"output_token_ids": [8, 8]},
            "tokens of accuracy gsm8k, baseline: 1 of 1 answers differ, first example 3 cdcdcdcdcdcdcdcd at "
            "token 0: 9 and 8",
        ),
    ],
)
def test_other_tokens_are_a_regression(tmp_path, changed, line):
    before = read(tmp_path)
    after = read(tmp_path, **changed)
    assert list(compare_tokens(before, after, "").regressions) == [line]
    shown = compare_tokens(before, after, "the models differ")
    assert list(shown.regressions) == []
    assert not shown.compared
    assert sum(len(one.differing) for one in shown.subjects) == 1


def test_another_prompt_is_another_question(tmp_path):
    found = compare_tokens(read(tmp_path), read(tmp_path, prompt_sha256="ef" * 32, cold_token_ids=[7]), "")
    assert list(found.regressions) == []
    cold = found.subjects[0]
    assert (cold.equal, cold.differing, cold.only_in_a, cold.only_in_b) == (0, (), 1, 1)
    # Without a hash nobody knows which prompt it was.
    assert next(one.subject for one in read(tmp_path, prompt_sha256=None)) == "tokens-equal-cpu, NPU"


def test_a_prompt_that_was_asked_twice_is_compared_twice(tmp_path):
    path = tmp_path / "kv-offload.jsonl"
    path.write_text(json.dumps(ROUND) + "\n" + json.dumps(ROUND | {"cold_token_ids": [1, 2, 9]}) + "\n")
    before = read_answers(tmp_path, "run")
    assert [one.prompt for one in before] == ["prompt abababababababab"] * 2 + [
        "prompt abababababababab (time 2)"
    ] * 2
    path.write_text((json.dumps(ROUND) + "\n") * 2)
    (line,) = compare_tokens(before, read_answers(tmp_path, "run"), "").regressions
    assert "1 of 2 answers differ, first prompt abababababababab (time 2) at token 2: 9 and 3" in line


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"cold_token_ids": [1, "2"]}, "token_ids.1: Input should be a valid integer"),
        ({"cold_token_ids": None}, "token_ids: Input should be a valid tuple"),
        ({"cold_token_ids": [-1]}, "token_ids.0: Input should be greater than or equal to 0"),
    ],
)
def test_a_row_without_token_ids_is_an_error(tmp_path, changed, problem):
    assert read(tmp_path)
    with pytest.raises(UsageError, match=r"run/results/kv-offload\.jsonl:1: not an answer: ") as raised:
        read(tmp_path, **changed)
    assert problem in str(raised.value)


def test_a_row_without_a_field_is_an_error(tmp_path):
    (tmp_path / "tokens-equal-cpu.jsonl").write_text('{"prompt_tokens": 7}\n')
    with pytest.raises(UsageError, match=r"tokens-equal-cpu\.jsonl:1: no 'npu_token_ids'"):
        read_answers(tmp_path, "run")
