"""--vllm-ascend and --patch: options, else two variables, else none; one option takes the place of both."""

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from npu_assay.commands.source_options import PATCH_VARIABLE, SOURCE_VARIABLE, source_options

VARIABLES = {SOURCE_VARIABLE: "/image/tree", PATCH_VARIABLE: "/image/a:/image/b"}


def read(arguments: list[str], variables: dict[str, str]) -> tuple[str | None, tuple[str, ...]]:
    """What a command gets."""
    got: dict[str, Any] = {}

    @click.command()
    @source_options
    @click.option("--other")
    def command(source: str | None, patches: tuple[Path, ...], other: str | None) -> None:
        got.update(source=source, patches=tuple(map(str, patches)), other=other)

    empty = dict.fromkeys(VARIABLES, "")
    ended = CliRunner().invoke(command, [*arguments, "--other", "x"], env={**empty, **variables})
    assert (ended.exit_code, got["other"]) == (0, "x"), ended.output
    return got["source"], got["patches"]


@pytest.mark.parametrize(
    ("arguments", "variables", "expected"),
    [
        ([], {}, (None, ())),
        ([], VARIABLES, ("/image/tree", ("/image/a", "/image/b"))),
        ([], {PATCH_VARIABLE: "/image/a"}, (None, ("/image/a",))),
        ([], {SOURCE_VARIABLE: "git+https://h/x@main"}, ("git+https://h/x@main", ())),
        (["--vllm-ascend", "mine"], VARIABLES, ("mine", ())),
        (["--patch", "p", "--patch", "q"], VARIABLES, (None, ("p", "q"))),
        (["--vllm-ascend", "mine", "--patch", "p"], VARIABLES, ("mine", ("p",))),
        (["--vllm-ascend", "mine"], {}, ("mine", ())),
    ],
)
def test_options_win(
    arguments: list[str], variables: dict[str, str], expected: tuple[str | None, tuple[str, ...]]
) -> None:
    assert read(arguments, variables) == expected
