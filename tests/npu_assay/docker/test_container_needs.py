"""The one list of what a container needs: by chip, by number of dies, and as a shell reads it."""

import subprocess
from pathlib import Path

import pytest

from npu_assay.device import needs
from npu_assay.device.needs import NEEDS, needs_of, read_needs
from npu_assay.docker.host_files import read_host_files

DRIVER = "/usr/local/Ascend/driver"
BOTH = {f"{DRIVER}/lib64", f"{DRIVER}/version.info"}
TOOLS = {"/usr/local/dcmi", "/usr/local/bin/npu-smi", "/etc/ascend_install.info"}
OLD_NODES = {"/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"}
NEW_NODES = {"/dev/davinci_manager", "/dev/hisi_hdc"}


@pytest.mark.parametrize(
    ("chip", "dies", "required", "besides"),
    [
        ("910b", 1, OLD_NODES | BOTH | TOOLS, set()),
        ("910b", 2, OLD_NODES | BOTH | TOOLS, {f"{DRIVER}/tools/hccn_tool", "/etc/hccn.conf"}),
        ("A3", 1, OLD_NODES | BOTH | TOOLS, set()),
        ("310p", 1, OLD_NODES | BOTH | TOOLS, set()),
        (None, 1, OLD_NODES | BOTH | TOOLS, set()),
        ("950", 1, NEW_NODES | {DRIVER} | TOOLS, {"/dev/ummu", "/dev/uburma"}),
        (
            "950",
            8,
            NEW_NODES | {DRIVER} | TOOLS,
            {"/dev/ummu", "/dev/uburma", "/etc/hccn.conf", "/etc/hccl_rootinfo.json", "/etc/hixlep"},
        ),
    ],
)
def test_a_chip_has_its_needs(chip, dies, required, besides):
    found = needs_of(chip, dies)
    assert {need.target(DRIVER) for need in found if need.required} == required
    assert {need.target(DRIVER) for need in found if not need.required} == besides


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (
            "/dev/devmm_svm",
            "no /dev/devmm_svm (memory that host and die share): docker run needs --device /dev/devmm_svm",
        ),
        (
            f"{DRIVER}/lib64",
            f"no {DRIVER}/lib64 (the driver's libraries, such as libascend_hal.so): "
            f"docker run needs -v {DRIVER}/lib64:{DRIVER}/lib64:ro",
        ),
        (
            "/usr/local/bin/npu-smi",
            "no /usr/local/bin/npu-smi nor /usr/local/sbin/npu-smi "
            "(health, memory and processes of the dies): "
            "docker run needs -v /usr/local/bin/npu-smi:/usr/local/bin/npu-smi:ro",
        ),
    ],
)
def test_what_is_missing_is_one_line_with_its_option(path, line):
    (need,) = (need for need in NEEDS if need.target(DRIVER) == path)
    assert need.missing(DRIVER) == line


@pytest.mark.parametrize(
    "line",
    [
        "devices davinci_manager any always why",
        "device davinci_manager 910 always why",
        "device davinci_manager any never why",
        "device davinci_manager any always",
    ],
)
def test_a_line_that_is_none_is_refused(line):
    assert len(read_needs("# words\n\ndevice davinci_manager any always why it is\n")) == 1
    with pytest.raises(ValueError, match=r"needs\.txt:2: expected kind"):
        read_needs(f"# words\n{line}\n")


def test_a_small_shell_reads_the_same_list():
    """As its head says, so that an entry point in an image needs no Python for it."""
    script = (
        'while read -r kind path chips when why; do case "$kind" in ""|"#"*) continue ;; esac; '
        'echo "$kind|$path|$chips|$when|$why"; done'
    )
    text = Path(needs.__file__).with_name("needs.txt").read_text()
    said = subprocess.run(["/bin/sh", "-c", script], input=text, capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == [
        "|".join((need.kind, "|".join(need.names), need.chips, need.when, need.why)) for need in NEEDS
    ]


def test_the_driver_is_where_its_installer_put_it(tmp_path):
    assert read_host_files(tmp_path).driver == DRIVER
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/ascend_install.info").write_text("Driver_Install_Path_Param=/opt/Ascend/\n")
    (tmp_path / "opt/Ascend/driver/lib64").mkdir(parents=True)
    found = read_host_files(tmp_path)
    assert found.driver == "/opt/Ascend/driver"
    assert found.there == {
        "/opt/Ascend/driver",
        "/opt/Ascend/driver/lib64",
        "/etc/ascend_install.info",
    }
