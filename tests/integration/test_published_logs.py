"""Whatever is published under logs/: whole, judged again, and bytes to git."""

import subprocess
from pathlib import Path

import pytest

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import own_mode, verify
from npu_assay.evidence.publication.check import check_published
from npu_assay.evidence.publication.layout import Publication, check_name
from npu_assay.project import ROOT
from npu_assay.report.derived import judge

PUBLICATION = Publication(ROOT)
ARCHIVES = sorted(PUBLICATION.archives())


def git(*words: str, folder: Path = ROOT) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def published_files() -> list[str]:
    """Names from the checkout's root."""
    files = [path for path in PUBLICATION.logs.rglob("*") if path.is_file()]
    return sorted(path.relative_to(ROOT).as_posix() for path in [*files, PUBLICATION.sums])


def test_an_emulated_run_is_published() -> None:
    assert Mode.EMULATED in {own_mode(PUBLICATION.logs / name) for name in ARCHIVES}


def test_everything_under_logs_is_as_it_was_published() -> None:
    assert [str(problem) for problem in check_published(PUBLICATION)] == []
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_published_archive_passes_in_its_own_mode_and_an_emulated_one_in_no_other(name: str) -> None:
    root = PUBLICATION.logs / name
    mode = own_mode(root)
    check_name(name, emulated=mode is Mode.EMULATED)
    verdict = verify(root, mode)
    assert [str(finding) for finding in verdict.findings if finding.result is Result.FAIL] == []
    assert verdict.result is Result.PASS, verdict.line
    # Statement and reports of an older npu-assay may be inconclusive, and never fail.
    assert judge(root, mode).result is not Result.FAIL
    if mode is Mode.EMULATED:
        assert judge(root, Mode.FORMAL).result is Result.FAIL


def test_git_keeps_every_published_byte(tmp_path: Path) -> None:
    names = published_files()
    assert set(git("ls-files", "-z", "--", "logs", "SHA256SUMS").split("\0")) - {""} == set(names)
    answers = git("check-attr", "-z", "--all", "--", *names).split("\0")
    attributes = set(zip(answers[0::3], answers[1::3], answers[2::3], strict=False))
    assert {name for name, attribute, value in attributes if (attribute, value) == ("text", "unset")} == set(
        names
    )
    assert {name for name, attribute, value in attributes if (attribute, value) == ("diff", "unset")} >= {
        name for name in names if name.startswith("logs/")
    }
    assert {attribute for _, attribute, _ in attributes} <= {"text", "diff"}

    git("clone", "--quiet", "--no-checkout", "--shared", str(ROOT), str(tmp_path / "clone"), folder=tmp_path)
    clone = tmp_path / "clone"
    wanted = (".gitattributes", "SHA256SUMS", "logs")
    git(
        "-c",
        "core.autocrlf=true",
        "-c",
        "core.eol=crlf",
        "checkout",
        "--quiet",
        "HEAD",
        "--",
        *wanted,
        folder=clone,
    )
    for name in names:
        assert (clone / name).read_bytes() == git_bytes(name)


def git_bytes(name: str) -> bytes:
    """The file as it was committed."""
    return subprocess.run(
        ["git", "-C", str(ROOT), "show", f"HEAD:{name}"], check=True, capture_output=True
    ).stdout
