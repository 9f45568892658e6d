"""Every command of ours in the documents exists, with the options that are shown."""

import re
import shlex

import click
import pytest
from markdown_parts import command_lines

from npu_assay.cli import cli
from npu_assay.project import ROOT

DOCUMENTS = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
_OURS = re.compile(r"(?:\./assay|npu-assay) (?P<words>[^;&|)>]*)")


def problem_of(words: list[str]) -> str | None:
    """What is wrong with a command line of ours; None when it could be typed."""
    command: click.Command = cli
    rest = list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        named = command.get_command(click.Context(command), rest[0])
        if named is None:
            return f"{rest[0]}: no such command of {command.name}"
        command, rest = named, rest[1:]
    known = {option for parameter in command.params for option in parameter.opts} | {"-h", "--help"}
    for word in rest:
        if word == "--":
            break
        if word.startswith("-") and (option := word.partition("=")[0]) not in known:
            return f"{option}: no such option of {command.name}"
    return None


def ours(document: str) -> list[list[str]]:
    """The command lines of ours in a document, without `./assay test`, whose arguments are pytest's."""
    found = [_OURS.match(line) for line in command_lines(document)]
    lines = [shlex.split(one["words"].replace("[", " ").replace("]", " ")) for one in found if one]
    return [words for words in lines if words and words[0] not in ("test", "X", "COMMAND")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("doctor --device npu", None),
        ("device exec --dies 1 -- npu-smi info --all", None),
        ("run --device=npu", None),
        ("cure", "cure: no such command"),
        ("env mend", "mend: no such command of env"),
        ("doctor --cure", "--cure: no such option of doctor"),
    ],
)
def test_a_command_that_does_not_exist_is_told(line: str, problem: str | None) -> None:
    found = problem_of(line.split())
    assert (found or "").startswith(problem) if problem else found is None


def test_command_lines_are_found_in_blocks_and_in_code_type() -> None:
    document = (
        "Type `./assay doctor --json`.\n```sh\n./assay run  # now\n```\n`assay`\n```\n./assay no\n```\n"
    )
    assert ours(document) == [["run"], ["doctor", "--json"]]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_commands_of_a_document_exist(document: str) -> None:
    lines = ours((ROOT / document).read_text())
    assert lines, f"{document} names no command"
    problems = [f"{' '.join(words)}: {problem}" for words in lines if (problem := problem_of(words))]
    assert not problems
