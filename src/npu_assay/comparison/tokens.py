"""The same prompt has to lead to the same token ids: answers of both sides held against each other.

Greedy answers are compared by prompt. Which prompts are the same is known by their hash, and where a suite
keeps none, by their place in the file: those are made from the stage's seed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from npu_assay.errors import UsageError
from npu_assay.evidence.jsonlines import Row, read_rows
from npu_assay.strict import Strict, first_problem

_Ids = tuple[Annotated[int, Field(ge=0, strict=True)], ...]


class Answer(Strict):
    """What was generated for a prompt."""

    subject: Annotated[str, Field(min_length=1)]
    """Who was asked: `kv-offload native, cold`."""
    prompt: Annotated[str, Field(min_length=1)]
    """Which prompt, the same word on both sides."""
    token_ids: _Ids


class TokenDifference(Strict):
    """A prompt with two answers."""

    prompt: str
    at: int
    """The first token that differs, counted from 0."""
    a: int | None
    """None where A's answer has ended."""
    b: int | None


class SubjectComparison(Strict):
    """All prompts that somebody was asked on both sides."""

    subject: str
    equal: int
    differing: tuple[TokenDifference, ...]
    only_in_a: int
    only_in_b: int


class TokenComparison(Strict):
    """The section tokens."""

    not_judged: str
    """Why a difference is shown, but held against nobody; empty where it is."""
    subjects: tuple[SubjectComparison, ...]

    @property
    def compared(self) -> bool:
        """Whether any prompt was answered on both sides."""
        return not self.not_judged and any(one.equal or one.differing for one in self.subjects)

    @property
    def regressions(self) -> Iterator[str]:
        """In one line each."""
        for one in () if self.not_judged else self.subjects:
            if one.differing:
                first = one.differing[0]
                answered = one.equal + len(one.differing)
                yield (
                    f"tokens of {one.subject}: {len(one.differing)} of {answered} answers differ, first "
                    f"{first.prompt} at token {first.at}: {_word(first.a)} and {_word(first.b)}"
                )


def _word(token: int | None) -> str:
    return "the end" if token is None else str(token)


def read_answers(results: Path, source: str) -> tuple[Answer, ...]:
    """Every answer in an archive's results. Raises UsageError with file and line for a row that is none."""
    answers: list[Answer] = []
    seen: Counter[tuple[str, str]] = Counter()
    for name, of_row in _READERS.items():
        path = results / name
        for row in read_rows(path) if path.is_file() else ():
            try:
                found = [Answer.model_validate(values) for values in of_row(row)]
            except KeyError as error:
                raise UsageError(f"{source}/results/{name}:{row.line}: no {error}") from error
            except ValidationError as error:
                where = f"{source}/results/{name}:{row.line}"
                raise UsageError(f"{where}: not an answer: {first_problem(error)}") from error
            for answer in found:
                seen[answer.subject, answer.prompt] += 1
                times = seen[answer.subject, answer.prompt]
                again = {} if times == 1 else {"prompt": f"{answer.prompt} (time {times})"}
                answers.append(answer.model_copy(update=again))
    return tuple(answers)


def _of_offload_round(row: Row) -> Iterator[dict[str, Any]]:
    values = row.values
    if values.get("prompt_sha256") is not None:  # without it nobody knows which prompt it was
        for what in ("cold", "external"):
            yield {
                "subject": f"kv-offload {values['backend']}, {what}",
                "prompt": f"prompt {str(values['prompt_sha256'])[:16]}",
                "token_ids": values[f"{what}_token_ids"],
            }


def _of_cpu_comparison(row: Row) -> Iterator[dict[str, Any]]:
    for who in ("npu", "cpu"):
        yield {
            "subject": f"tokens-equal-cpu, {who.upper()}",
            "prompt": f"prompt {row.line} of {row.values['prompt_tokens']} tokens",
            "token_ids": row.values[f"{who}_token_ids"],
        }


def _of_accuracy_example(row: Row) -> Iterator[dict[str, Any]]:
    values = row.values
    yield {
        "subject": f"accuracy {values['dataset']}, {values['case']}",
        "prompt": f"example {values['index']} {str(values['prompt_hash'])[:16]}",
        "token_ids": values["output_token_ids"],
    }


_READERS = {
    "kv-offload.jsonl": _of_offload_round,
    "tokens-equal-cpu.jsonl": _of_cpu_comparison,
    "accuracy-examples.jsonl": _of_accuracy_example,
}


def compare_tokens(a: tuple[Answer, ...], b: tuple[Answer, ...], not_judged: str) -> TokenComparison:
    """Subject by subject, in A's order and then B's; one that a side does not have is all `only`."""
    ours, theirs = _by_subject(a), _by_subject(b)
    return TokenComparison(
        not_judged=not_judged if a and b else "",
        subjects=tuple(
            _subject(subject, ours.get(subject, {}), theirs.get(subject, {}))
            for subject in dict.fromkeys((*ours, *theirs))
        ),
    )


def _by_subject(answers: tuple[Answer, ...]) -> dict[str, dict[str, _Ids]]:
    subjects: dict[str, dict[str, _Ids]] = {}
    for answer in answers:
        subjects.setdefault(answer.subject, {})[answer.prompt] = answer.token_ids
    return subjects


def _subject(subject: str, a: Mapping[str, _Ids], b: Mapping[str, _Ids]) -> SubjectComparison:
    both = [prompt for prompt in a if prompt in b]
    differing = [
        difference for prompt in both if (difference := _difference(prompt, a[prompt], b[prompt])) is not None
    ]
    return SubjectComparison(
        subject=subject,
        equal=len(both) - len(differing),
        differing=tuple(differing),
        only_in_a=len(a) - len(both),
        only_in_b=len(b) - len(both),
    )


def _difference(prompt: str, a: _Ids, b: _Ids) -> TokenDifference | None:
    for at, (ours, theirs) in enumerate(zip_longest(a, b)):
        if ours != theirs:
            return TokenDifference(prompt=prompt, at=at, a=ours, b=theirs)
    return None
