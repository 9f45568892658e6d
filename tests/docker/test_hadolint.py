"""hadolint finds nothing in any Dockerfile, nor shellcheck, which it has built in, in what they RUN.

What the images start, docker/entrypoint and docker/missing, shellcheck reads with all other scripts
(tests/test_checks.py).
"""

import subprocess
import sys
from pathlib import Path

import pytest
from committed import committed

from npu_assay.docker.dockerfile import DOCKERFILE
from npu_assay.project import ROOT

HADOLINT = Path(sys.executable).with_name("hadolint")


def hadolint(path: Path) -> subprocess.CompletedProcess[str]:
    """Check a Dockerfile with the project's settings."""
    command = [HADOLINT, "--config", ROOT / ".hadolint.yaml", "--no-color", path]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def dockerfiles() -> list[Path]:
    """All of the checkout, whatever they are called after the word."""
    named = [path for path in committed() if "dockerfile" in path.name.lower()]
    return [path for path in named if path.suffix not in (".dockerignore", ".py")]


def test_every_dockerfile_is_clean() -> None:
    assert DOCKERFILE in dockerfiles()
    for path in dockerfiles():
        assert (hadolint(path).stdout, hadolint(path).returncode) == ("", 0)


@pytest.mark.parametrize(
    ("good", "bad", "rule"),
    [
        ("ENTRYPOINT ", "RUN apt-get install -y git\nENTRYPOINT ", "DL3015"),
        ("ENTRYPOINT ", "RUN apt-get install -y git\nENTRYPOINT ", "DL3008"),
        ('CMD ["--help"]', "CMD --help", "DL3025"),
        ('"$LOCK"', "$LOCK", "SC2086"),
        ("COPY ci ", "ADD ci ", "DL3020"),
        ("FROM scratch AS fetched", "FROM debian:latest AS fetched", "DL3007"),
    ],
)
def test_a_fault_is_found(good: str, bad: str, rule: str, tmp_path: Path) -> None:
    assert good in DOCKERFILE.read_text()
    changed = tmp_path / "Dockerfile"
    changed.write_text(DOCKERFILE.read_text())
    assert hadolint(changed).returncode == 0
    changed.write_text(DOCKERFILE.read_text().replace(good, bad))
    found = hadolint(changed)
    assert rule in found.stdout
    assert found.returncode == 1
