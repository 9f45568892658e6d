"""`npu-assay archive publish`, and what git makes of what was published."""

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from offload_archive import OffloadArchive
from planted_shards import merged, plant_shards

from npu_assay.cli import cli
from npu_assay.errors import UsageError
from npu_assay.evidence.manifest import StageStatus
from npu_assay.project import ROOT
from npu_assay.report.derived import derive

NAME = "cann900-vllm018-emulated"


@pytest.fixture
def offload(tmp_path) -> OffloadArchive:
    planted = OffloadArchive(tmp_path / "run")
    planted.write("stages/ruff.log", "All checks passed!\n\x1b[0m")
    planted.write("stages/build.log", "a\r\nb\n\tc \r\x00")
    planted.write("plog/unit/build/plog.log", "of a folder whose name .gitignore has")
    planted.seal()
    derive(planted.root)
    return planted


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A git repository with this one's attributes."""
    folder = tmp_path / "checkout"
    git(tmp_path, "init", "--quiet", str(folder))
    shutil.copy(ROOT / ".gitattributes", folder)
    shutil.copy(ROOT / ".gitignore", folder)
    return folder


def assay(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def publish(offload: OffloadArchive, checkout: Path, *words: str) -> Result:
    return assay("archive", "publish", offload.root, "--checkout", checkout, *words)


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    command = ["git", "-C", str(folder), *identity, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_published_archive_is_judged_and_checked(offload, checkout):
    done = publish(offload, checkout)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0].startswith("verdict: EMULATED ")
    assert lines[1] == f"published: {checkout}/logs/{NAME}, and 11 logs beside it"
    assert lines[2] == f"{checkout}/logs: every file matches SHA256SUMS; archives: {NAME}"
    assert assay("archive", "check", "--published", checkout).exit_code == 0
    assert assay("archive", "check", checkout / "logs" / NAME).exit_code == 0
    assert (
        assay("verify", checkout / "logs" / NAME).exit_code == 1
    )  # formal: no emulated run passes for another


def test_a_difference_is_exit_1_and_named(offload, checkout):
    assert publish(offload, checkout).exit_code == 0
    assert assay("archive", "check", "--published", checkout).exit_code == 0
    (checkout / "logs" / f"{NAME}-ruff.log").write_text("E999")
    done = assay("archive", "check", "--published", checkout)
    assert str(done.exception) == f"{checkout}/logs: 2 differences from {checkout}/SHA256SUMS"
    assert f"logs/{NAME}-ruff.log: not what the archive has\n" in done.output


def test_a_run_that_fails_may_be_published_and_says_so(offload, checkout):
    offload.change_stage("ruff", status=StageStatus.FAIL, exit_code=1, reason="exit code 1")
    offload.seal()
    derive(offload.root)
    done = publish(offload, checkout, "--name", "emulated-failure")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("verdict: EMULATED fail (")
    assert (checkout / "logs/emulated-failure/manifest.json").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--name", "cann900-vllm018"), "its name has to say so: cann900-vllm018-emulated"),
        (("--name", "../emulated"), "expected lower-case letters, digits and dashes"),
        ((), f"logs/{NAME}: there already; choose another --name, or say --replace"),
        (("--checkout", "/nowhere"), "--checkout /nowhere: no such folder"),
    ],
)
def test_what_is_refused_leaves_what_was_published(offload, checkout, words, message):
    assert publish(offload, checkout).exit_code == 0
    refused = publish(offload, checkout, *words)
    assert isinstance(refused.exception, UsageError)
    assert message in str(refused.exception)
    assert assay("archive", "check", "--published", checkout).exit_code == 0
    assert publish(offload, checkout, "--replace").exit_code == 0


def test_git_converts_no_byte_of_what_is_published(offload, checkout, tmp_path):
    assert publish(offload, checkout).exit_code == 0
    assert (
        assay(
            "archive",
            "publish",
            merged(plant_shards(tmp_path), tmp_path / "m"),
            "--checkout",
            checkout,
            "--name",
            "emulated-shards",
        ).exit_code
        == 0
    )
    names = [
        path.relative_to(checkout).as_posix() for path in (checkout / "logs").rglob("*") if path.is_file()
    ]
    attributes = git(checkout, "check-attr", "-z", "--all", "--", *names, "SHA256SUMS").split("\0")
    said = set(zip(attributes[0::3], attributes[1::3], attributes[2::3], strict=False))
    assert {name for name, attribute, value in said if (attribute, value) == ("text", "unset")} == {
        *names,
        "SHA256SUMS",
    }
    assert {name for name, attribute, value in said if (attribute, value) == ("diff", "unset")} >= set(names)
    assert {attribute for _, attribute, _ in said} <= {"text", "diff"}

    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", "logs")
    assert set(git(checkout, "ls-files").splitlines()) >= set(names)  # .gitignore hides none
    for crlf in ("true", "input", "false"):
        clone = tmp_path / f"clone-{crlf}"
        git(tmp_path, "-c", f"core.autocrlf={crlf}", "clone", "--quiet", str(checkout), str(clone))
        for name in [*names, "SHA256SUMS"]:
            assert (clone / name).read_bytes() == (checkout / name).read_bytes()
        assert assay("archive", "check", "--published", clone).exit_code == 0
