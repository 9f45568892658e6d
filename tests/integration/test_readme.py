"""The commands that README.md and docs/ show do what they say: the end-to-end run is one of them."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from npu_assay.environment.environment import Environment
from npu_assay.project import ROOT

DOCS = ROOT / "docs"
#: A command of a console block; `# exits N` after it says with what it ends.
_COMMAND = re.compile(r"^\$ (?P<line>.+?)(?:\s+# (?:exits (?P<code>\d)\b)?.*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """A command that a document shows, and the exit code that it promises."""

    line: str
    exit_code: int


def shown(document: str) -> list[Shown]:
    """The commands of a document's console blocks, in order."""
    blocks = re.findall(r"```console\n(.*?)```", document, re.DOTALL)
    return [
        Shown(found["line"], int(found["code"] or 0))
        for block in blocks
        for found in _COMMAND.finditer(block)
    ]


def test_commands_are_found_with_their_exit_codes() -> None:
    document = "text\n```console\n$ a b\nsaid\n$ c  # exits 3: why\n$ d # so\n```\n```sh\n$ not shown\n```\n"
    assert shown(document) == [Shown("a b", 0), Shown("c", 3), Shown("d", 0)]


@pytest.mark.environment
@pytest.mark.e2e
@pytest.mark.xdist_group("engine")
@pytest.mark.parametrize(
    "document", ["README.md", *sorted(f"docs/{path.name}" for path in DOCS.glob("*.md"))]
)
def test_what_a_document_shows_works(environment: Environment, tmp_path: Path, document: str) -> None:
    commands = shown((ROOT / document).read_text())
    assert commands, f"{document} shows no command that is run here"
    (tmp_path / "assay").symlink_to(ROOT / "assay")  # so that what the commands leave goes away with the test
    for command in commands:
        ended = subprocess.run(
            ["/bin/sh", "-c", command.line], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        said = f"$ {command.line}\n{ended.stdout[-4000:]}{ended.stderr[-2000:]}"
        assert ended.returncode == command.exit_code, said
        if command.line == "./assay run":
            assert "verdict: EMULATED pass" in ended.stdout, said
            (archive,) = (tmp_path / "runs").iterdir()
            rows = (archive / "results" / "kv-offload.jsonl").read_text().splitlines()
            assert len(rows) == 3


def test_the_main_job_is_among_them() -> None:
    assert "./assay run" in [command.line for command in shown((ROOT / "README.md").read_text())]
