"""hadolint finds nothing in the Dockerfile."""

import subprocess
import sys
from pathlib import Path

from dockerfile_parts import DOCKERFILE

from npu_assay.project import ROOT

HADOLINT = Path(sys.executable).with_name("hadolint")


def hadolint(path: Path) -> subprocess.CompletedProcess[str]:
    """Check a Dockerfile with the project's settings."""
    return subprocess.run(
        [HADOLINT, "--no-color", path], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_the_dockerfile_is_clean(tmp_path: Path) -> None:
    assert (hadolint(DOCKERFILE).stdout, hadolint(DOCKERFILE).returncode) == ("", 0)
    bad = tmp_path / "Dockerfile"
    bad.write_text(DOCKERFILE.read_text().replace('CMD ["--help"]', "CMD --help"))
    assert "DL3025" in hadolint(bad).stdout
    assert hadolint(bad).returncode == 1
