"""The images' entry point, as far as it goes without a container."""

import re
import subprocess
from pathlib import Path

import pytest

from npu_assay.cli import COMMANDS
from npu_assay.docker.dockerfile import DOCKERFILE, read_stages
from npu_assay.docker.host_files import read_host_files
from npu_assay.docker.places import CACHE, CHIP_VARIABLE, RUNS, WORK, WRITTEN
from npu_assay.project import ROOT

ENTRYPOINT = ROOT / "docker" / "entrypoint"
MISSING = ROOT / "docker" / "missing"
UNMOUNTED = "entrypoint: nothing is mounted at /npu-assay/runs, "

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


def unlike_places(dockerfile: Path, entrypoint: Path) -> list[str]:
    """What of the folders and the variable that recipes speak of, the image has otherwise."""
    (*_, image) = read_stages(dockerfile).values()
    launcher = " ".join(read_stages(dockerfile)["launcher"].instructions)
    (made,) = re.findall(r"mkdir -p ((?:cache/\w+ )+)(\S+?);", launcher)
    script = entrypoint.read_text()
    (runs,) = re.findall(r"^runs=(\S+)$", script, re.MULTILINE)
    (called,) = re.findall(r'docker/missing" "\$\{(\w+)-\}"', script)
    pairs = {
        "the cache": (f"NPU_ASSAY_CACHE={CACHE}" in launcher, True),
        "what is written to of it": ({f"cache/{name}" for name in WRITTEN}, {*made[0].split()}),
        "the folder of archives": (RUNS, made[1]),
        "the entry point's folder of archives": (RUNS, runs),
        "the working folder": ([f"WORKDIR {WORK}"], [one for one in image.instructions if "WORKDIR" in one]),
        "the chip's variable": (any(f"{CHIP_VARIABLE}=${{CHIP}}" in one for one in image.instructions), True),
        "the entry point's chip": (CHIP_VARIABLE, called),
    }
    return [what for what, (ours, theirs) in pairs.items() if ours != theirs]


@pytest.mark.parametrize(
    ("old", "new", "unlike"),
    [
        ("NPU_ASSAY_CACHE=/opt/npu-assay/cache", "NPU_ASSAY_CACHE=/cache", ["the cache"]),
        ("mkdir -p cache/builds ", "mkdir -p ", ["what is written to of it"]),
        (" /npu-assay/runs; ", " /npu-assay/archives; ", ["the folder of archives"]),
        ("runs=/npu-assay/runs", "runs=/archives", ["the entry point's folder of archives"]),
        ("WORKDIR /npu-assay\nENTRYPOINT", "WORKDIR /work\nENTRYPOINT", ["the working folder"]),
        ("NPU_ASSAY_CHIP=${CHIP}", "CHIP=${CHIP}", ["the chip's variable"]),
        ("${NPU_ASSAY_CHIP-}", "${CHIP-}", ["the entry point's chip"]),
    ],
)
def test_image_entry_point_and_recipes_mean_the_same_places(
    old: str, new: str, unlike: list[str], tmp_path: Path
) -> None:
    assert unlike_places(DOCKERFILE, ENTRYPOINT) == []
    files = []
    for file in (DOCKERFILE, ENTRYPOINT):
        files.append(tmp_path / file.name)
        files[-1].write_text(file.read_text().replace(old, new))
    assert unlike_places(*files) == unlike


@pytest.mark.parametrize(
    ("info", "driver"),
    [
        ("Driver_Install_Path_Param=/opt/Ascend\n", "opt/Ascend/driver"),
        ("UserName=me\ndriver_install_path_param = /opt/Ascend/ \r\nlast=one\n", "opt/Ascend/driver"),
        ("Driver_Install_Status=complete\n", "usr/local/Ascend/driver"),
        (None, "usr/local/Ascend/driver"),
    ],
)
def test_the_driver_is_where_the_host_says(info: str | None, driver: str, tmp_path: Path) -> None:
    plant(tmp_path, (*(name for name in A2 if "driver" not in name), f"{driver}/lib64/a"))
    if info is not None:
        plant(tmp_path, ("etc/ascend_install.info",))
        (tmp_path / "etc/ascend_install.info").write_text(info)
    assert read_host_files(tmp_path).driver == f"/{driver}", "what a recipe mounts"
    assert missing(tmp_path, "910b") == []
    (tmp_path / driver / "lib64").rename(tmp_path / "elsewhere")
    (said,) = missing(tmp_path, "910b")
    assert said.endswith(f"docker run needs -v /{driver}/lib64:/{driver}/lib64:ro")


def test_the_entry_point_knows_every_command() -> None:
    def known(text: str) -> set[str]:
        (words,) = re.findall(r"^commands='([^']*)'$", text, re.MULTILINE)
        return set(words.split())

    text = (ROOT / "docker" / "entrypoint").read_text()
    assert known(text) == set(COMMANDS)
    assert known(text.replace(" verify'", "'")) != set(COMMANDS)


@pytest.mark.parametrize("user", ["1000:1000", "12345:4294967294", "1:0"])
def test_as_root_it_goes_on_as_the_user_that_is_named(user: str, tmp_path: Path) -> None:
    ended = started_as_root(user, tmp_path)
    uid, gid = user.split(":")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(f"--reuid {uid} --regid {gid} --groups ")


@pytest.mark.parametrize(
    "user",
    [
        "root",
        "1000",
        "1000:",
        ":1000",
        "1:2:3",
        "-1:3",
        "4294967295:1",
        "1:4294967295",
        "99999999999:1",
        "00:1",
    ],
)
def test_a_user_that_is_none_is_refused(user: str, tmp_path: Path) -> None:
    assert started_as_root("1000:1000", tmp_path).returncode == 0
    ended = started_as_root(user, tmp_path)
    expected = f"entrypoint: NPU_ASSAY_USER is '{user}', expected UID:GID, as of: id -u, id -g\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", expected)


@pytest.mark.parametrize("words", [("run",), ("run", "--stage", "ruff")])
def test_it_says_that_an_archive_is_gone_with_the_container(words: tuple[str, ...], tmp_path: Path) -> None:
    assert UNMOUNTED not in started(words, tmp_path, {"mountpoint": "true"}).stderr
    assert UNMOUNTED in started(words, tmp_path, {"mountpoint": "false"}).stderr


@pytest.mark.parametrize(
    "words",
    [("run", "--out", "/results"), ("run", "--out=/results"), ("run", "--help"), ("doctor",), ("runs",)],
)
def test_of_what_leaves_no_archive_there_it_says_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    assert UNMOUNTED in started(("run",), tmp_path, {"mountpoint": "false"}).stderr
    assert UNMOUNTED not in started(words, tmp_path, {"mountpoint": "false"}).stderr


def started_as_root(user: str, tools: Path) -> subprocess.CompletedProcess[str]:
    """The entry point where `id` says root, and `setpriv` prints what it is given."""
    scripts = {"id": "echo 0", "setpriv": 'echo "$*"'}
    return started(("run",), tools, scripts, NPU_ASSAY_USER=user)


def started(
    words: tuple[str, ...], tools: Path, scripts: dict[str, str], **variables: str
) -> subprocess.CompletedProcess[str]:
    """The entry point with these commands instead of the machine's, and an npu-assay that does nothing."""
    for name, script in {"id": "echo 1000", **scripts}.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    entrypoint, assay = tools / "entrypoint", tools / ".venv/bin/npu-assay"
    assay.parent.mkdir(parents=True, exist_ok=True)
    text = ENTRYPOINT.read_text().replace("home=/opt/npu-assay\n", f"home={tools}\n")
    for path, content in {entrypoint: text, assay: "#!/bin/sh\n"}.items():
        path.write_text(content)
        path.chmod(0o755)
    variables = {"PATH": f"{tools}:/usr/bin:/bin", "NPU_ASSAY_DEVICE": "emulated", **variables}
    return subprocess.run([entrypoint, *words], capture_output=True, text=True, env=variables, timeout=10)
