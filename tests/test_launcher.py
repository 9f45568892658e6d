"""The launcher, on a small project and with a PATH on which only what a test names can be found."""

import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from npu_assay.project import ROOT

PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "npu-assay"
version = "1.0"
"""
# The smallest build backend that can install itself editable, so that no index is asked.
BACKEND = """\
import pathlib, zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    name, info = "npu_assay-1.0-py3-none-any.whl", "npu_assay-1.0.dist-info/"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        wheel.writestr("npu_assay.pth", str(pathlib.Path.cwd()))
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: npu-assay\\nVersion: 1.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "entry_points.txt", "[console_scripts]\\nnpu-assay = small:main\\n")
        wheel.writestr(info + "RECORD", "")
    return name
"""
# What npu-assay and pytest get to see. The exit code is that of a failed check, which must come through.
MODULE = """\
import os, sys
def main():
    print("{name}", os.getcwd(), sys.argv[1:])
    sys.exit(1 if "fail" in sys.argv else 0)
if __name__ == "__main__":
    main()
"""

ORDINARY = [
    *("bash", "cat", "dirname", "env", "flock", "head", "id", "mv", "readlink", "rm", "sed", "sh"),
    *("sha256sum", "tail"),
]
COMPILING = ["c++", "g++", "cc", "ld", "cmake", "make"]
TESTING = ["git", "chromium"]


REAL_PYTHON = f"{sys.base_prefix}/bin/python3.11"


@dataclass
class Machine:
    """A checkout and the tools that can be found."""

    root: Path
    bin: Path
    variables: dict[str, str] = field(default_factory=dict)

    def has(self, name: str, script: str | None = None) -> None:
        """Put a tool on PATH: a script, or this machine's own."""
        tool = self.bin / name
        tool.unlink(missing_ok=True)
        if script is None:
            tool.symlink_to(REAL_PYTHON if name == "python3.11" else shutil.which(name) or f"/no/{name}")
        else:
            tool.write_text(f"#!{shutil.which('sh')}\n{script}\n")
            tool.chmod(0o755)

    def lacks(self, *names: str) -> None:
        """Take tools off PATH."""
        for name in names:
            (self.bin / name).unlink()

    def start(
        self, *arguments: str, launcher: Path | str | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[str]:
        """Start the launcher."""
        return subprocess.Popen(
            [launcher or self.root / "assay", *arguments],
            cwd=cwd,
            env={"PATH": str(self.bin), "HOME": str(self.root.parent), "PIP_NO_INDEX": "1", **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def assay(
        self, *arguments: str, launcher: Path | str | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the launcher to its end."""
        process = self.start(*arguments, launcher=launcher, cwd=cwd)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def make_machine(folder: Path) -> Machine:
    machine = Machine(root=folder / "a checkout", bin=folder / "bin")
    machine.root.mkdir()
    machine.bin.mkdir()
    shutil.copy(ROOT / "assay", machine.root)
    shutil.copytree(ROOT / ".ci", machine.root / ".ci")
    (machine.root / "pyproject.toml").write_text(PYPROJECT)
    (machine.root / "backend.py").write_text(BACKEND)
    (machine.root / "requirements.txt").write_text("# none\n")
    (machine.root / "requirements-test.txt").write_text("# none\n")
    for module, name in (("small", "npu-assay"), ("pytest", "pytest")):
        (machine.root / f"{module}.py").write_text(MODULE.format(name=name))
    for tool in [*ORDINARY, *COMPILING, *TESTING, "python3.11"]:
        machine.has(tool)
    return machine


@pytest.fixture(scope="session")
def quick_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python 3.11, as a script, that makes a venv by copying one: seconds less for each test."""
    venv = tmp_path_factory.mktemp("quick") / "venv"
    subprocess.run([REAL_PYTHON, "-m", "venv", venv], check=True)
    copy = shutil.which("cp")
    return f'case "$1 $2" in "-m venv") {copy} -R {venv} "$3";; *) exec {REAL_PYTHON} "$@";; esac'


@pytest.fixture
def machine(tmp_path: Path, quick_python: str) -> Machine:
    """A machine that has everything, and a checkout that was never started."""
    machine = make_machine(tmp_path)
    machine.has("python3.11", quick_python)
    return machine


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """The same, after a first start. Tests must leave it as it is."""
    machine = make_machine(tmp_path_factory.mktemp("made"))
    first = machine.assay("first")
    assert first.returncode == 0, first.stderr
    assert "assay: making .venv" in first.stderr
    return machine


def test_the_second_call_only_hands_over(made: Machine, tmp_path: Path) -> None:
    before = (made.root / ".venv").stat().st_ctime_ns
    for tool in COMPILING:
        assert (made.bin / tool).exists()
    run = made.assay("verify", "an archive", "--mode", "formal", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == f"npu-assay {tmp_path} ['verify', 'an archive', '--mode', 'formal']\n"
    assert (made.root / ".venv").stat().st_ctime_ns == before


def test_the_exit_code_comes_through(made: Machine) -> None:
    assert made.assay("pass").returncode == 0
    assert made.assay("fail").returncode == 1


def test_it_works_through_a_link_and_by_a_relative_path(made: Machine, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(made.root / "assay")
    assert made.assay("x", launcher=tmp_path / "link").stdout.startswith("npu-assay")
    assert made.assay("x", launcher="./assay", cwd=made.root).stdout.startswith("npu-assay")


def test_a_strangers_python_settings_do_not_get_into_venv(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "pip.py").write_text("raise SystemExit('a stray pip')\n")
    machine.variables["PYTHONPATH"] = str(tmp_path)
    run = machine.assay("x")
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ([], "['-n', '2', '--dist', 'loadgroup']"),
        (["-q", "tests/a b.py"], "['-n', '2', '--dist', 'loadgroup', '-q', 'tests/a b.py']"),
        (["-n0"], "['-n0']"),
        (["-n", "4"], "['-n', '4']"),
        (["--numprocesses=1"], "['--numprocesses=1']"),
        (["-p", "no:xdist"], "['-p', 'no:xdist']"),
    ],
)
def test_test_hands_its_arguments_to_pytest(
    made: Machine, tmp_path: Path, arguments: list[str], given: str
) -> None:
    made.has("c++", "exit 0")  # for GoogleTest's header, which this machine need not have
    run = made.assay("test", *arguments, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"pytest {made.root} {given}\n"


def test_continuous_integration_installs_an_engine_and_runs_the_tests(made: Machine) -> None:
    made.has("c++", "exit 0")
    engine = made.root / "ci" / "docker-engine"
    engine.parent.mkdir()
    engine.write_text(f"#!{shutil.which('sh')}\necho engine\n")
    engine.chmod(0o755)
    run = made.assay(launcher=made.root / ".ci" / "run")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"engine\npytest {made.root} ")
    engine.write_text(f"#!{shutil.which('sh')}\nexit 4\n")
    run = made.assay(launcher=made.root / ".ci" / "run")
    assert (run.returncode, run.stdout) == (4, "")


def test_a_half_made_venv_is_made_again(machine: Machine) -> None:
    (machine.root / ".venv" / "bin").mkdir(parents=True)
    (machine.root / ".venv" / "left").touch()
    machine.has("python", "exit 1")
    shutil.copy(machine.bin / "python", machine.root / ".venv" / "bin" / "python")
    run = machine.assay("x")
    assert (run.returncode, run.stdout[:9]) == (0, "npu-assay"), run.stderr
    assert not (machine.root / ".venv" / "left").exists()


@pytest.mark.parametrize("change", ["requirements.txt", "pyproject.toml", "moved"])
def test_a_change_makes_venv_again(machine: Machine, change: str) -> None:
    assert machine.assay("x").returncode == 0
    assert "making" not in machine.assay("x").stderr
    if change == "moved":
        machine.root = machine.root.rename(machine.root.with_name("elsewhere"))
    else:
        with (machine.root / change).open("a") as file:
            file.write("# changed\n")
    run = machine.assay("x")
    assert run.returncode == 0, run.stderr
    assert "assay: making .venv" in run.stderr


def test_an_activated_venv_is_made_again_with_another_python(machine: Machine) -> None:
    assert machine.assay("x").returncode == 0
    machine.variables["PATH"] = f"{machine.root / '.venv' / 'bin'}:{machine.bin}"
    assert machine.assay("x").returncode == 0
    with (machine.root / "requirements.txt").open("a") as file:
        file.write("# changed\n")
    run = machine.assay("x")
    assert run.returncode == 0, run.stderr
    assert f"assay: making .venv with {machine.bin}/python3.11" in run.stderr


def test_two_at_once_make_one_venv(machine: Machine) -> None:
    both = [machine.start(name) for name in ("one", "two")]
    ends = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert sum(err.count("making .venv") for _, err in ends) == 1
    assert [out.split()[-1] for out, _ in ends] == ["['one']", "['two']"]


def test_an_installation_that_fails_is_told_and_not_used(machine: Machine) -> None:
    (machine.root / "requirements.txt").write_text(f"absent==1.0 --hash=sha256:{'0' * 64}\n")
    run = machine.assay("x")
    assert run.returncode == 4
    assert (
        "assay: pip could not install requirements.txt: Could not find a version that satisfies" in run.stderr
    )
    assert run.stderr.rstrip().endswith(f"the full log is {machine.root / '.venv.log'}")
    assert not (machine.root / ".venv" / "run.stamp").exists()
    (machine.root / "requirements.txt").write_text("# none\n")
    assert machine.assay("x").returncode == 0


def test_an_index_that_cant_be_reached_is_told(machine: Machine) -> None:
    (machine.root / "requirements.txt").write_text(f"absent==1.0 --hash=sha256:{'0' * 64}\n")
    settings = {"PIP_NO_INDEX": "", "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1"}
    machine.variables |= {**settings, "NO_PROXY": "127.0.0.1", "PIP_CONFIG_FILE": "/dev/null"}
    run = machine.assay("x")
    assert run.returncode == 4
    told = run.stderr.splitlines()[-1]
    assert told.startswith("assay: pip could not install requirements.txt: can't reach its index: NewConnect")
    assert "; see index-url, proxy and cert in: pip config list; the full log is " in told


MISSING = [
    (["python3.11"], "", "python3.11 python3.11-venv python3.11-dev"),
    (["c++", "g++"], "", "gcc g++ binutils"),
    (["ld"], "", "gcc g++ binutils"),
    (["cmake"], "", "cmake"),
    (["make"], "", "make"),
    (["python3.11", "cmake"], "", "python3.11 python3.11-venv python3.11-dev cmake"),
    (["git"], "header", "git"),
    (["git"], "no header", "libgtest-dev git"),
    (["chromium"], "header", "chromium"),
]


@pytest.mark.parametrize(("lacks", "header", "packages"), MISSING)
def test_who_is_not_root_is_told_the_one_command_to_type(
    machine: Machine, lacks: list[str], header: str, packages: str
) -> None:
    machine.has("id", "echo 1000")
    machine.has("apt-get", "exit 9")
    machine.lacks(*lacks)
    if header == "header":
        machine.has("c++", "exit 0")
    if header == "no header":
        machine.has("c++", "while read line; do case $line in *gtest*) exit 1; esac; done; exit 0")
    run = machine.assay("test") if header else machine.assay("x")
    install = f"apt-get update && apt-get install -y --no-install-recommends {packages}"
    assert run.returncode == 4
    assert run.stderr == f"assay: missing: {packages}; type: sudo sh -c '{install}'\n"
    assert not (machine.root / ".venv").exists()


def test_python3_is_taken_when_it_is_3_11(machine: Machine, quick_python: str) -> None:
    machine.has("id", "echo 1000")
    machine.has("apt-get", "exit 9")
    machine.lacks("python3.11")
    machine.has("python3", "exit 1")
    assert machine.assay("x").returncode == 4
    machine.has("python3", quick_python)
    assert machine.assay("x").returncode == 0


@pytest.mark.parametrize(
    ("version", "good"), [("3.22.1", True), ("4.0.0", True), ("3.18.4", False), ("", False)]
)
def test_an_old_cmake_is_missing(machine: Machine, version: str, good: bool) -> None:
    machine.has("id", "echo 1000")
    machine.has("apt-get", "exit 9")
    machine.has("cmake", f"echo cmake version {version}")
    machine.lacks("make")  # so that no .venv is made in either case
    assert ("cmake" in machine.assay("x").stderr) is not good


def test_root_has_what_is_missing_installed(machine: Machine) -> None:
    machine.has("id", "echo 0")
    for tool in ("python3.11", "make"):
        (machine.bin / tool).rename(machine.bin / f"{tool}.deb")
    machine.has(
        "apt-get",
        f'cd "{machine.bin}"; echo "$DEBIAN_FRONTEND $*" >>asked\n'
        "case $* in *install*) mv python3.11.deb python3.11; mv make.deb make;; esac",
    )
    run = machine.assay("x")
    assert run.returncode == 0, run.stderr
    assert "assay: installing python3.11 python3.11-venv python3.11-dev make" in run.stderr
    assert (machine.bin / "asked").read_text().splitlines() == [
        "noninteractive -q update",
        "noninteractive -q install -y --no-install-recommends python3.11 python3.11-venv python3.11-dev make",
    ]


def test_machine_installs_packages_and_makes_no_venv(machine: Machine) -> None:
    machine.has("id", "echo 0")
    machine.has("dpkg-query", f'test "$4" != git || cat "{machine.bin}/git.state"')
    machine.has("apt-get", f'echo "$*" >>"{machine.bin}/asked"; echo installed >"{machine.bin}/git.state"')
    (machine.bin / "git.state").write_text("config-files")
    assert machine.assay("machine", "git").stderr == "assay: installing git\n"
    assert (machine.bin / "asked").read_text().splitlines()[-1].endswith(" git")
    (machine.bin / "asked").unlink()
    again = machine.assay("machine", "git")
    assert (again.returncode, again.stderr) == (0, "")
    assert not (machine.bin / "asked").exists(), "nobody is asked for what is there"
    assert not (machine.root / ".venv").exists()

    machine.lacks("make")
    absent = machine.assay("machine", "git", "another")
    assert absent.returncode == 4
    assert "apt-get installed make another, and this is still missing: make another" in absent.stderr


@pytest.mark.parametrize(
    ("apt_get", "says"),
    [
        ("echo 'E: no network'; exit 100", "apt-get could not install make: E: no network; the full log is"),
        ("echo 'E: no file'; echo 'E: some'; exit 100", "apt-get could not install make: E: no file; the"),
        ("echo 'half a line'; exit 1", "apt-get could not install make: half a line; the full log is"),
        ("exit 0", "apt-get installed make, and this is still missing: make"),
        (None, "missing, by Debian's names: make; install them"),
    ],
)
def test_what_apt_get_cant_do_is_told(machine: Machine, apt_get: str | None, says: str) -> None:
    machine.has("id", "echo 0")
    machine.lacks("make")
    if apt_get:
        machine.has("apt-get", apt_get)
    run = machine.assay("x")
    assert run.returncode == 4
    assert says in run.stderr
