"""The images' entry point, as far as it goes without a container."""

import re
import subprocess
from pathlib import Path

import pytest

from npu_assay.cli import COMMANDS
from npu_assay.project import ROOT

MISSING = ROOT / "docker" / "missing"

NEEDS = """\
# a comment
device davinci_manager any always the manager of all dies
device devmm_svm !950 always memory that host and die share
device ummu 950 if-there the bus
driver . 950 always the driver as a whole
driver lib64 !950 always the driver's libraries
file /usr/local/bin/npu-smi|/usr/local/sbin/npu-smi any always health of the dies
file /etc/hccn.conf any several addresses
"""
A2 = (
    "dev/davinci3",
    "dev/davinci_manager",
    "dev/devmm_svm",
    "usr/local/Ascend/driver/lib64/a",
    "usr/local/bin/npu-smi",
)


def plant(root: Path, files: tuple[str, ...]) -> None:
    """Make these files."""
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def missing(root: Path, chip: str) -> list[str]:
    """What the script prints."""
    (root / "needs.txt").write_text(NEEDS)
    command = [MISSING, chip, root / "needs.txt", root]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_container_that_has_everything_lacks_nothing(tmp_path: Path) -> None:
    plant(tmp_path, A2)
    assert missing(tmp_path, "910b") == []


@pytest.mark.parametrize(
    ("without", "line"),
    [
        ("dev/davinci3", "no /dev/davinci0 or another die: docker run needs --device /dev/davinciN of each"),
        (
            "dev/devmm_svm",
            "no /dev/devmm_svm (memory that host and die share): docker run needs --device /dev/devmm_svm",
        ),
        (
            "usr/local/Ascend/driver/lib64/a",
            "no /usr/local/Ascend/driver/lib64 (the driver's libraries): docker run needs"
            " -v /usr/local/Ascend/driver/lib64:/usr/local/Ascend/driver/lib64:ro",
        ),
        (
            "usr/local/bin/npu-smi",
            "no /usr/local/bin/npu-smi (health of the dies): docker run needs"
            " -v /usr/local/bin/npu-smi:/usr/local/bin/npu-smi:ro",
        ),
    ],
)
def test_what_is_missing_is_one_line_with_its_option(without: str, line: str, tmp_path: Path) -> None:
    plant(tmp_path, tuple(name for name in A2 if name != without))
    (said,) = missing(tmp_path, "910b")
    assert said.startswith(line)


def test_a_950_wants_other_things(tmp_path: Path) -> None:
    plant(tmp_path, ("dev/davinci0", "dev/davinci_manager", "usr/local/bin/npu-smi"))
    (said,) = missing(tmp_path, "950")
    assert said.startswith("no /usr/local/Ascend/driver (the driver as a whole)")
    plant(tmp_path, ("usr/local/Ascend/driver/version.info",))
    assert missing(tmp_path, "950") == []
    assert len(missing(tmp_path, "910b")) == 2


def test_the_entry_point_knows_every_command() -> None:
    def known(text: str) -> set[str]:
        (words,) = re.findall(r"^commands='([^']*)'$", text, re.MULTILINE)
        return set(words.split())

    text = (ROOT / "docker" / "entrypoint").read_text()
    assert known(text) == set(COMMANDS)
    assert known(text.replace(" verify'", "'")) != set(COMMANDS)
