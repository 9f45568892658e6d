"""`npu-assay run` in an environment that needs no installation: our own Python and a scripted npu-smi."""

import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from npu_assay.commands import run as run_module
from npu_assay.environment.ascend_build.request import RunSource
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError
from npu_assay.evidence.manifest import read_manifest
from npu_assay.project import ROOT
from npu_assay.source.location import Folder
from npu_assay.source.tree import Wanted, make_tree

MAPPING = "NPU ID    Chip ID    Chip Logic ID    Chip Name\n0    0    0    Ascend 910B3\n"
PIPELINE = """
name = "demo"
[[stage]]
name = "one"
command = ["{{python}}", "-c", {program!r}]
timeout = 20
settings = {{ rounds = 3 }}
[[stage]]
name = "assay"
command = ["{{assay}}", "--version"]
timeout = 20
[[stage]]
name = "two"
command = ["{{python}}", "-c", "pass"]
timeout = 20
dies = 2
"""


class ProjectEnvironment:
    python = Path(sys.executable)
    site_packages = Path(sysconfig.get_path("purelib"))
    cache = Path()
    vllm_ascend = site_packages / "vllm_ascend"
    tree = None

    def __init__(self, tools: Path, variant: Variant) -> None:
        self.tools = tools
        self.variant = variant

    def unbuilt(self) -> str:
        return ""

    def variables(self) -> dict[str, str]:
        return {**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}"}


def locks(environment: ProjectEnvironment) -> RunSource:
    """The lock's own vllm-ascend, which a real environment downloads."""
    folder = environment.tools.parent / "locks-own"
    (folder / "vllm_ascend").mkdir(parents=True, exist_ok=True)
    (folder / "vllm_ascend" / "__init__.py").touch()
    (folder / "setup.py").touch()
    wanted = Wanted(Folder(folder), locks="vllm-ascend 0.18.0 of a test")
    tree = make_tree(wanted, "0.18.0", environment.tools.parent / "cache", lambda line: None)
    return RunSource(environment, tree, (), None)


class Assay:
    """The command line in this process, and where its archive goes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out"
        self.pipeline("pass")

    def pipeline(self, program: str) -> None:
        (self.folder / "demo.toml").write_text(PIPELINE.format(program=program))

    def run(self, *arguments: str) -> int:
        """The exit code, as the shell sees it."""
        from npu_assay.cli import main

        words = ["run", "--pipeline", str(self.folder / "demo.toml"), "--out", str(self.out), *arguments]
        sys.argv = ["npu-assay", *words]
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0


@pytest.fixture
def assay(tmp_path, monkeypatch) -> Assay:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "npu-smi").write_text(f"#!/bin/sh\ncat <<'END'\n{MAPPING}END\n")
    (tools / "npu-smi").chmod(0o755)
    monkeypatch.setattr(run_module, "install", lambda environment, progress: None)
    monkeypatch.setattr(run_module, "needed", lambda cache, environments: ())  # nothing of it is in a cache
    monkeypatch.setattr(
        run_module.Environment, "of", lambda lock, kind: ProjectEnvironment(tools, Variant.of(lock, kind))
    )
    monkeypatch.setattr(
        run_module, "run_source", lambda request, named, environment, report: locks(environment)
    )
    monkeypatch.setattr(sys, "argv", [])
    return Assay(tmp_path)


def test_a_good_run_says_that_it_was_emulated_and_where_its_archive_is(assay, capsys):
    assert assay.run() == 0
    output = capsys.readouterr().out
    assert "device: emulated" in output
    assert "EMULATED run of demo: 2 pass, 1 not applicable\n" in output
    assert (assay.out / "stages/assay.log").read_bytes().startswith(b"npu-assay, version ")
    assert output.splitlines()[-1] == f"archive: {assay.out}"
    assert subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=assay.out).returncode == 0
    manifest = read_manifest(assay.out / "manifest.json")
    assert manifest.environment.name == "cann900-vllm018"
    assert manifest.device.dies == 1
    assert set(manifest.environment.versions) >= {"torch", "vllm", "cann"}
    assert manifest.source.kind == "lock"
    assert (assay.out / "source/source.json").read_text() == manifest.source.model_dump_json(indent=2) + "\n"


@pytest.mark.parametrize(
    ("program", "arguments", "code", "line"),
    [
        ("raise SystemExit(5)", [], 1, "one fail in"),
        ("raise SystemExit(3)", [], 3, "one inconclusive in"),
        ("pass", ["--stage", "two"], 3, "two not applicable: needs 2 dies, this run has 1"),
        (
            "import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(99)",
            [],
            3,
            "one interrupted",
        ),
    ],
    ids=["failed", "inconclusive", "nothing passed", "interrupted"],
)
def test_exit_codes(assay, capsys, program, arguments, code, line):
    assert assay.run() == 0
    assay.pipeline(program)
    assay.out = assay.folder / "second"
    assert assay.run(*arguments) == code
    assert line in capsys.readouterr().out
    assert subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=assay.out).returncode == 0


def test_a_setting_reaches_the_manifest(assay):
    assert assay.run("--set", "one.rounds=5") == 0
    assert read_manifest(assay.out / "manifest.json").stage("one").settings == {"rounds": 5}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--pipeline", "nope"], 2, "no pipeline 'nope' in "),
        (["--environment", "nope"], 2, "no environment 'nope'"),
        (
            ["--pipeline", "kv-offload", "--environment", "cann900-vllm0221"],
            2,
            "pipeline kv-offload does not run in cann900-vllm0221; type: npu-assay run"
            " --environment cann900-vllm0221 --pipeline engine",
        ),
        (["--stage", "nope"], 2, "has no stage 'nope'; there are: one, assay, two"),
        (["--set", "one.rouds=3"], 2, "stage one has no setting 'rouds'; there are: rounds"),
        (["--model", "nowhere"], 2, "--model nowhere: no config.json there"),
        (["--model", "\udcff"], 2, "the path is no UTF-8, which manifest.json has to hold"),
        (["--out", "/proc/nowhere"], 2, "/proc/nowhere: no archive can be written here"),
        (["--out", "/dev/null/x"], 2, "/dev/null/x: no archive can be written here (Not a directory)"),
        (["--out", str(ROOT)], 2, "not empty; an archive needs a new folder"),
        (["--out", "/tmp/\udcff"], 2, "the path is no UTF-8, which manifest.json has to hold"),
        (
            ["--vllm-ascend", "nowhere"],
            2,
            "--vllm-ascend nowhere: no such folder or file; expected a folder, ",
        ),
        (["--patch", "nowhere"], 2, "--patch nowhere: can't be read: No such file or directory"),
        (["--device", "npu"], 4, "no NPU; use --device emulated"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_run(assay, capsys, arguments, code, message):
    assert assay.run() == 0
    capsys.readouterr()
    assay.out = assay.folder / "second"
    assert assay.run(*arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("npu-assay: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not assay.out.exists()


def test_an_environment_that_cannot_be_installed_leaves_no_archive(assay, capsys, monkeypatch):
    def fail(environment, progress):
        raise UnusableError("step torch failed")

    assert assay.run() == 0
    monkeypatch.setattr(run_module, "install", fail)
    assay.out = assay.folder / "second"
    assert assay.run() == 4
    assert capsys.readouterr().err == "npu-assay: step torch failed\n"
    assert not assay.out.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_the_installation_is_inconclusive_and_leaves_no_archive(
    assay, capsys, monkeypatch, number
):
    before = signal.getsignal(number)
    assert assay.run() == 0
    monkeypatch.setattr(run_module, "install", lambda environment, progress: signal.raise_signal(number))
    assay.out = assay.folder / "second"
    assert assay.run() == 3
    assert capsys.readouterr().err == "npu-assay: interrupted before the first stage; no archive is left\n"
    assert not assay.out.exists()
    assert signal.getsignal(number) is before


def test_a_signal_that_the_caller_ignores_stays_ignored(assay, monkeypatch):
    """As under nohup, or in the background of a script."""
    assay.pipeline("import os, signal; os.kill(os.getppid(), signal.SIGHUP)")
    assert assay.run() == 3
    assay.out = assay.folder / "second"
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert assay.run() == 0
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk; /dev/full is tested for all")
def test_a_full_disk_is_exit_4_and_one_line(assay, capsys):
    assay.pipeline("while True: print('x' * 1000)")
    disk = assay.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], check=True)
    try:
        assay.out = disk / "out"
        assert assay.run() == 4
        error = capsys.readouterr().err
        assert "No space left on device" in error
        assert error.count("\n") == 1
        assert subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=assay.out).returncode == 0
    finally:
        subprocess.run(["umount", str(disk)], check=True)
