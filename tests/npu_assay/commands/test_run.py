"""`npu-assay run` in an environment that needs no installation: our own Python and a scripted npu-smi."""

import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import sysconfig
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from npu_smi_texts import process
from planted_model import plant_model
from planted_npu_smi import a2_answers, plant_npu_smi

from npu_assay.cann.tree import CannTree
from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.commands import run as run_module
from npu_assay.commands import run_image
from npu_assay.environment.ascend_build.request import RunSource
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError
from npu_assay.evidence.image import image_record, read_image, write_image
from npu_assay.evidence.manifest import read_manifest
from npu_assay.evidence.record import FileRecord
from npu_assay.project import ENVIRONMENTS, ROOT
from npu_assay.report.derived import judge
from npu_assay.source.location import Sdist
from npu_assay.source.tree import Wanted, make_tree

PIPELINE = """
name = "demo"
[[stage]]
name = "one"
command = ["{{python}}", "-c", {program!r}]
timeout = 20
seconds = 2
settings = {{ rounds = 3 }}
[[stage]]
name = "assay"
command = ["{{assay}}", "--version"]
timeout = 20
every_shard = true
[[stage]]
name = "two"
command = ["{{python}}", "-c", "pass"]
timeout = 20
seconds = 1
dies = {dies}
"""

EMULATED = {name: text.replace("25.3.9", "25.3.9+emulated") for name, text in a2_answers([0]).items()}


class ProjectEnvironment:
    python = Path(sys.executable)
    site_packages = Path(sysconfig.get_path("purelib"))
    cache = Path()
    cann = CannTree.laid_out(Path("/usr/local/Ascend"))
    model_infos = None
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
    path = environment.tools.parent / "vllm_ascend-0.18.0.tar.gz"
    if not path.exists():
        with tarfile.open(path, "w:gz") as archive:
            for name in ("setup.py", "vllm_ascend/__init__.py"):
                archive.addfile(tarfile.TarInfo(f"vllm_ascend-0.18.0/{name}"))
    wanted = Wanted(Sdist(path), locks="vllm-ascend 0.18.0 of a test")
    tree = make_tree(wanted, "0.18.0", environment.tools.parent / "cache", lambda line: None)
    return RunSource(environment, tree, (), None)


class Assay:
    """The command line in this process, and where its archive goes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out"
        self.pipeline("pass")

    def pipeline(self, program: str, dies: int = 2) -> None:
        (self.folder / "demo.toml").write_text(PIPELINE.format(program=program, dies=dies))

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
    tools = plant_npu_smi(tmp_path / "tools", EMULATED)
    for name in ("ASCEND_RT_VISIBLE_DEVICES", "NPU_INDEX", "NPU_CHIP_INDEX", "SKIP_NPU_HEALTH_CHECK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(run_module, "install", lambda environment, progress: None)
    monkeypatch.setattr(run_module, "needed", lambda cache, environments: ())  # nothing of it is in a cache
    monkeypatch.setattr(
        run_module.Environment, "of", lambda lock, kind: ProjectEnvironment(tools, Variant.of(lock, kind))
    )
    monkeypatch.setattr(run_module, "named_tree", lambda request, environment, report: None)
    monkeypatch.setattr(
        run_module, "run_source", lambda request, named, environment, report: locks(environment)
    )
    monkeypatch.setattr(sys, "argv", [])
    return Assay(tmp_path)


SHOW = "import os; print(os.environ.get('ASCEND_RT_VISIBLE_DEVICES'))"


class NpuHost:
    """A host with eight NPUs, of which others use the first one: nodes, npu-smi, and where locks are."""

    def __init__(self, folder: Path) -> None:
        self.dev, self.tools, self.locks = folder / "dev", folder / "tools", folder / "locks"
        self.dev.mkdir()
        for number in range(8):
            (self.dev / f"davinci{number}").touch()
        self.plant(busy={0: process(0, 4711)})

    def plant(self, **answers: dict[int, str]) -> None:
        plant_npu_smi(self.tools, a2_answers(range(8), **answers))

    @property
    def options(self) -> tuple[str, ...]:
        return ("--device", "npu", "--dev", str(self.dev))


@pytest.fixture
def npu_host(assay, monkeypatch) -> NpuHost:
    host = NpuHost(assay.folder)
    monkeypatch.setenv("PATH", f"{host.tools}:{os.environ['PATH']}")
    monkeypatch.setenv("NPU_ASSAY_LOCKS", str(host.locks))
    return host


def visible(assay) -> str:
    return (assay.out / "stages/one.log").read_text().strip()


def test_a_run_on_an_npu_takes_the_first_free_dies_and_gives_them_back(assay, npu_host, capsys):
    assay.pipeline(SHOW)
    assert assay.run(*npu_host.options) == 0
    assert "dies: NPU 1 chip 0 (logical id 1), NPU 2 chip 0 (logical id 2)\n" in capsys.readouterr().out
    device = read_manifest(assay.out / "manifest.json").device
    assert (device.kind, device.visible_devices, visible(assay)) == ("hardware", "1,2", "1,2")
    assert [(die.npu_id, die.chip_id, die.logical_id) for die in device.dies] == [(1, 0, 1), (2, 0, 2)]
    with (npu_host.locks / "die-0000-01-00.0-0.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assay.out = assay.folder / "second"
        assert assay.run(*npu_host.options) == 0
    assert visible(assay) == "2,3"


@pytest.mark.parametrize(
    ("variables", "seen"),
    [
        ({"ASCEND_RT_VISIBLE_DEVICES": "5,6"}, "5,6"),
        ({"ASCEND_RT_VISIBLE_DEVICES": "5"}, "5"),  # fewer than the pipeline's most: a stage does not apply
        ({"SKIP_NPU_HEALTH_CHECK": "1"}, "1,2"),
    ],
)
def test_what_the_user_has_set_is_kept_to(assay, npu_host, monkeypatch, variables, seen):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if "SKIP_NPU_HEALTH_CHECK" in variables:
        (npu_host.tools / "info_-t_health_-i_1_-c_0").write_text("unknown option\n")
    assay.pipeline(SHOW)
    assert assay.run(*npu_host.options) == 0
    assert visible(assay) == seen


def test_a_run_whose_stages_need_no_die_asks_for_none(assay, npu_host, capsys):
    assay.pipeline(SHOW, dies=0)
    (npu_host.tools / "npu-smi").unlink()
    assert assay.run(*npu_host.options) == 0
    assert "dies: none, as no stage needs one\n" in capsys.readouterr().out
    assert visible(assay) == "None"


def test_too_few_free_dies_are_named_with_the_reason_of_each_before_anything_is_made(
    assay, npu_host, capsys, monkeypatch
):
    installed = []
    monkeypatch.setattr(run_module, "install", lambda environment, progress: installed.append(environment))
    assert assay.run(*npu_host.options) == 0
    npu_host.plant(busy={npu: process(npu, 4700 + npu) for npu in range(6)}, health={6: "Alarm"})
    assay.out = assay.folder / "second"
    capsys.readouterr()
    assert assay.run(*npu_host.options) == 4
    said = capsys.readouterr()
    assert "2 free dies wanted, 1 found: NPU 0 chip 0: used by process 4700 (VLLMEngineCore" in said.err
    assert "NPU 5 chip 0: used by process 4705" in said.err
    assert "NPU 6 chip 0: health is Alarm, expected OK" in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert len(installed) == 1
    assert not assay.out.exists()


@pytest.mark.parametrize("wanted", ["npu", "auto"])
def test_a_cann_that_cannot_be_used_is_never_replaced_by_the_emulated_one(
    assay, npu_host, capsys, monkeypatch, wanted
):
    fault = "no CANN in /usr/local/Ascend -> type: npu-assay cann install"

    def no_cann(environment):
        raise UnusableError(fault)

    options = ("--device", wanted, *npu_host.options[2:])
    assert assay.run(*options) == 0
    capsys.readouterr()
    for cann in (property(no_cann), replace(ProjectEnvironment.cann, faults=(fault,))):
        monkeypatch.setattr(ProjectEnvironment, "cann", cann)
        assay.out = assay.folder / "second"
        assert assay.run(*options) == 4
        assert capsys.readouterr().err == (
            f"npu-assay: {fault}\nmend that, or run without the NPU: --device emulated\n"
        )
        assert not assay.out.exists()
    assert assay.run("--device", "emulated") == 0


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
    assert [die.place for die in manifest.device.dies] == ["NPU 0 chip 0"]
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
    output = capsys.readouterr().out
    assert line in output
    assert (f"log of one: {assay.out}/stages/one.log\n" in output) == (code == 1)
    assert subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=assay.out).returncode == 0


@pytest.mark.parametrize("arguments", [(), ("--stage", "assay")], ids=["whole", "partial"])
def test_a_run_leaves_its_statement_and_reports(assay, capsys, arguments):
    assert assay.run(*arguments) == 0
    assert f"report: {assay.out}/report.html\n" in capsys.readouterr().out
    verdict = judge(assay.out, Mode.EMULATED)
    assert [one.result for one in verdict.findings if one.rule == "derived/1"] == [Result.PASS] * 3
    (assay.out / "statement.intoto.json").unlink()
    assert judge(assay.out, Mode.EMULATED).result is Result.FAIL


@pytest.mark.parametrize(
    ("program", "code"), [("pass", 0), ("raise SystemExit(5)", 1), ("raise SystemExit(3)", 3)]
)
def test_the_stages_of_a_shard_decide_its_exit_code(assay, capsys, program, code):
    assay.pipeline(program, dies=1)
    assert assay.run("--shard", "1/2") == code
    said = capsys.readouterr().out
    assert "EMULATED run of demo, shard 1/2: " in said
    assert "one of 2 shards: join them with npu-assay archive merge SHARD... --out DIR\n" in said
    first = read_manifest(assay.out / "manifest.json")
    assay.out = assay.folder / "second"
    assert assay.run("--shard", "2/2") == 0
    assert "EMULATED run of demo, shard 2/2: 2 pass, 1 not run\n" in capsys.readouterr().out
    second = read_manifest(assay.out / "manifest.json")
    assert (str(first.shard), str(second.shard)) == ("1/2", "2/2")
    run = [{stage.name for stage in part.stages if stage.command} for part in (first, second)]
    assert run == [{"one", "assay"}, {"two", "assay"}]


def test_the_archive_has_the_bytes_that_the_run_was_made_from(assay):
    assert assay.run() == 0
    manifest = read_manifest(assay.out / "manifest.json")
    pipeline, lock = ((assay.out / "inputs" / name).read_bytes() for name in ("pipeline.toml", "lock.toml"))
    assert pipeline == (assay.folder / "demo.toml").read_bytes()
    assert lock == (ENVIRONMENTS / "cann900-vllm018.toml").read_bytes()
    assert manifest.pipeline.sha256 == hashlib.sha256(pipeline).hexdigest()
    assert manifest.environment.lock_sha256 == hashlib.sha256(lock).hexdigest()


def test_nobody_else_writes_to_the_archive_of_a_run_or_judges_it(assay):
    (assay.folder / "demo.toml").write_text(
        'name = "demo"\n'
        + "".join(
            f'[[stage]]\nname = "{name}"\ncommand = ["{{assay}}", {words}, "{{archive}}"]\ntimeout = 60\n'
            for name, words in (("sums", '"archive", "sums"'), ("verify", '"verify"'))
        )
    )
    assert assay.run() == 1
    for stage in "sums", "verify":
        log = (assay.out / f"stages/{stage}.log").read_text()
        assert log.startswith(f"npu-assay: {assay.out}: ")
        assert "another npu-assay" in log
        assert read_manifest(assay.out / "manifest.json").stage(stage).exit_code == 2
    sys.argv = ["npu-assay", "archive", "sums", str(assay.out)]  # the run has ended
    from npu_assay.cli import main

    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code


def test_a_setting_reaches_the_manifest(assay):
    assert assay.run("--set", "one.rounds=5") == 0
    assert read_manifest(assay.out / "manifest.json").stage("one").settings == {"rounds": 5}


def test_the_model_is_checked_hashed_and_on_record(assay, capsys):
    folder = plant_model(assay.folder / "qwen", shards=2)
    assert assay.run("--model", str(folder)) == 0
    assert "model: Qwen2ForCausalLM, 6 files, 0.0 MB\n" in capsys.readouterr().out
    model = read_manifest(assay.out / "manifest.json").model
    assert (model.path, model.architectures, model.model_type) == (
        str(folder),
        ("Qwen2ForCausalLM",),
        "qwen2",
    )
    shard = folder / "model-00002-of-00002.safetensors"
    sha256 = hashlib.sha256(shard.read_bytes()).hexdigest()
    assert model.files[shard.name] == FileRecord(sha256=sha256, size=shard.stat().st_size)

    shard.unlink()
    assay.out = assay.folder / "second"
    assert assay.run("--model", str(folder)) == 2
    assert capsys.readouterr().err == f"npu-assay: {shard}: missing; download the model again\n"
    assert not assay.out.exists()


def test_a_run_without_a_model_says_whose_it_is(assay, capsys):
    assert assay.run() == 0
    assert "model: a tiny one with random weights; --model DIR takes yours\n" in capsys.readouterr().out
    assert read_manifest(assay.out / "manifest.json").model is None


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
        (["--shard", "3/2"], 2, "--shard 3/2: shards are counted from 1 to N; there is no shard 3 of 2"),
        (["--shard", "half"], 2, "--shard half: expected I/N, such as 1/2 for the first of two"),
        (["--shard", "1/3"], 2, "--shard 1/3: pipeline demo has 2 stages to divide"),
        (["--shard", "1/2", "--stage", "one"], 2, "--shard divides the whole pipeline: leave out --stage"),
        (["--set", "one.rouds=3"], 2, "stage one has no setting 'rouds'; there are: rounds"),
        (["--model", "nowhere"], 2, "--model nowhere: no such folder; name the folder of a model"),
        (["--model", "/proc/self/fd"], 2, "--model /proc/self/fd: no config.json there"),
        (
            ["--model", "Qwen/Qwen2.5-1.5B-Instruct"],
            2,
            "type: hf download Qwen/Qwen2.5-1.5B-Instruct --local-dir DIR",
        ),
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
        assert (assay.out / "statement.intoto.json").is_file()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


IMAGE_DIGEST = f"npu-assay@sha256:{'f' * 64}"


@pytest.fixture
def in_image(assay, monkeypatch) -> Path:
    """As in a container of an image of the default environment, which was started with name and digest."""
    variant = Variant.of(load_lock(DEFAULT_ENVIRONMENT), "emulated")
    record = image_record(variant, "x86_64", "emulated", kind="runtime", base="debian", revision=None)
    file = assay.folder / "image.json"
    write_image(file, record)
    monkeypatch.setattr(run_image, "IMAGE", file)
    monkeypatch.setenv("NPU_ASSAY_IMAGE", "npu-assay:mine")
    monkeypatch.setenv("NPU_ASSAY_IMAGE_DIGEST", IMAGE_DIGEST)
    return file


def test_a_run_in_an_image_names_it_in_archive_and_manifest(assay, in_image, capsys):
    assert assay.run() == 0
    assert f"image: npu-assay:mine, sha256:{'f' * 64} (manifest)\n" in capsys.readouterr().out
    image = read_manifest(assay.out / "manifest.json").image
    assert image == read_image(assay.out / "image.json", "image.json")
    assert (image.reference, image.digest.of) == ("npu-assay:mine", "manifest")
    own = read_image(in_image, "image.json")
    assert image.model_copy(update={"reference": None, "digest": None}) == own


def test_outside_of_an_image_no_archive_has_one(assay, in_image, capsys, monkeypatch):
    assert assay.run() == 0
    assert (assay.out / "image.json").exists()
    in_image.unlink()
    monkeypatch.delenv("NPU_ASSAY_IMAGE")
    monkeypatch.delenv("NPU_ASSAY_IMAGE_DIGEST")
    assay.out = assay.folder / "outside"
    assert assay.run() == 0
    assert not (assay.out / "image.json").exists()
    assert read_manifest(assay.out / "manifest.json").image is None


@pytest.mark.parametrize(
    ("variable", "value", "options", "message"),
    [
        ("NPU_ASSAY_IMAGE_DIGEST", "latest", (), "NPU_ASSAY_IMAGE_DIGEST is 'latest', expected sha256:"),
        ("NPU_ASSAY_IMAGE", "a name", (), "NPU_ASSAY_IMAGE is 'a name', expected an image's name"),
        (
            "NPU_ASSAY_IMAGE",
            "",
            ("--environment", "cann900-vllm0221"),
            "this image has cann900-vllm018 for --device emulated, and the run is to be in cann900-vllm0221",
        ),
    ],
)
def test_what_is_wrong_about_the_image_is_said_before_an_archive_is_made(
    assay, in_image, monkeypatch, capsys, variable, value, options, message
):
    assert assay.run() == 0
    assay.out = assay.folder / "second"
    monkeypatch.setenv(variable, value)
    assert assay.run(*options) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith(f"npu-assay: {message}")
    assert not assay.out.exists()
