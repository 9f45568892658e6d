import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from npu_assay.errors import UnusableError
from npu_assay.evidence.archive import Archive, check, create_archive
from npu_assay.evidence.jsonlines import read_rows
from npu_assay.evidence.manifest import ModelRecord, ProjectRecord, read_manifest
from npu_assay.evidence.manifest import StageStatus as S
from npu_assay.evidence.pytest_junit import read_pytest_junit
from npu_assay.pipeline import runner


def python(program: str) -> list[str]:
    return ["{python}", "-c", program]


def pytest_command(folder: Path, tests: str) -> list[str]:
    folder.mkdir(exist_ok=True)
    (folder / "test_it.py").write_text("import pytest\n" + tests)
    return ["{python}", "-m", "pytest", "-p", "no:cacheprovider", "--junit-xml={junit}", str(folder)]


def statuses(manifest) -> dict[str, S]:
    return {stage.name: stage.status for stage in manifest.stages}


def coreutils_agrees(root: Path) -> bool:
    command = ["sha256sum", "-c", "--strict", "--quiet", "SHA256SUMS"]
    done = subprocess.run(command, cwd=root, capture_output=True)
    return done.returncode == 0 and done.stdout == b""


def test_a_run_leaves_a_sealed_archive(running):
    program = "print('hello'); open('scratch', 'w').write('gone later')"
    plan = running.plan({"name": "one", "command": python(program), "settings": {"rounds": 3}})
    manifest = running.run(plan)
    root = running.archive.root
    assert statuses(manifest) == {"one": S.PASS}
    assert running.log("one") == b"hello\n"
    assert sorted(path.name for path in root.iterdir()) == [
        *("SHA256SUMS", "device", "junit.xml", "manifest.json", "results", "stages"),
    ]
    assert check(running.archive) == []
    assert coreutils_agrees(root)
    assert read_manifest(running.archive.manifest).stages[0].settings == {"rounds": 3}
    written = json.loads(running.archive.manifest.read_text())
    assert written["schema_version"] == 1
    assert written["device"]["dies"][0]["logical_id"] == 0
    assert written["started"].endswith("Z")
    assert [case.name for case in read_pytest_junit(running.archive.junit).tests] == ["demo (EMULATED)::one"]


def test_a_stage_gets_what_the_architecture_promises(running):
    program = (
        "import json, os; v = dict(os.environ); v['settings'] = json.load(open(v['NPU_ASSAY_SETTINGS']));"
        "v['cwd'] = os.getcwd(); print(json.dumps(v))"
    )
    stage = {"name": "one", "command": python(program), "settings": {"rounds": 3, "fast": False}}
    model = ModelRecord(path="/models/qwen", architectures=("Q",), model_type="q", files={})
    running.run(running.plan(stage, settings=["one.rounds=5"], model=model))
    got, root = json.loads(running.log("one")), running.archive.root
    assert got["settings"] == {"rounds": 5, "fast": False, "model": "/models/qwen"}
    assert got["cwd"] == str(root / "work/one")
    assert got["FROM_THE_ENVIRONMENT"] == "yes"
    assert {key: got[f"NPU_ASSAY_{key}"] for key in ("ARCHIVE", "RESULTS", "STAGE", "DEVICE_KIND")} == {
        "ARCHIVE": str(root),
        "RESULTS": str(root / "results"),
        "STAGE": "one",
        "DEVICE_KIND": "emulated",
    }


def test_needs_decide_what_runs_and_independent_stages_go_on(running):
    manifest = running.run(
        running.plan(
            {"name": "good"},
            {"name": "bad", "command": python("raise SystemExit(4)")},
            {"name": "unsure", "command": python("raise SystemExit(3)")},
            {"name": "two-dies", "dies": 2},
            {"name": "after-good", "needs": ["good"]},
            {"name": "after-bad", "needs": ["good", "bad"]},
            {"name": "after-after-bad", "needs": ["after-bad"]},
            {"name": "after-unsure", "needs": ["unsure"]},
            {"name": "after-two-dies", "needs": ["two-dies"]},
        )
    )
    assert {stage.name: (stage.status, stage.reason) for stage in manifest.stages} == {
        "good": (S.PASS, ""),
        "bad": (S.FAIL, "exit code 4"),
        "unsure": (S.INCONCLUSIVE, "exit code 3; stages/unsure.log says why"),
        "two-dies": (S.NOT_APPLICABLE, "needs 2 dies, this run has 1"),
        "after-good": (S.PASS, ""),
        "after-bad": (S.SKIPPED, "needs bad: fail"),
        "after-after-bad": (S.SKIPPED, "needs after-bad: skipped"),
        "after-unsure": (S.PASS, ""),
        "after-two-dies": (S.NOT_APPLICABLE, "needs two-dies, which is not applicable"),
    }
    assert not running.archive.stage_log("after-bad").exists()


def test_the_projects_commit_is_that_of_the_runs_beginning(running, monkeypatch):
    logs = []

    def asked() -> ProjectRecord:
        logs.append(running.archive.stage_log("one").exists())
        return ProjectRecord(version="1", python="3.11.7", commit="a" * 40, dirty=False)

    monkeypatch.setattr(runner, "project_record", asked)
    assert running.run(running.plan({"name": "one"})).project.commit == "a" * 40
    assert logs == [False]


def test_placeholders_name_the_runs_vllm_ascend(running):
    stage = {"name": "one", "command": python("import sys; print(sys.argv[1:])")}
    stage["command"] += ["{tree}", "{vllm_ascend}", "{environment}", "{device}"]
    manifest = running.run(running.plan(stage))
    tree, package, environment, device = manifest.stages[0].command[-4:]
    assert tree == str(running.folder / "tree")
    assert package.endswith("/site-packages/vllm_ascend")
    assert (environment, device) == ("project", "emulated")
    assert manifest.source.version == "0.18.0"


def test_nothing_of_the_environment_runs_while_the_runs_vllm_ascend_is_not_built(running, tmp_path):
    stages = {"name": "ours", "command": ["{assay}", "--version"]}, {"name": "theirs"}
    assert statuses(running.run(running.plan(*stages))) == {"ours": S.PASS, "theirs": S.PASS}
    second = create_archive(tmp_path / "second")
    manifest = running.run(running.plan(*stages), archive=second, unbuilt="vllm-ascend 1 is not built")
    assert statuses(manifest) == {"ours": S.PASS, "theirs": S.SKIPPED}
    reason = manifest.stages[1].reason
    assert reason == "vllm-ascend 1 is not built, and another one must not take its place"


def test_named_stages_run_without_their_needs_and_the_rest_is_on_record(running):
    manifest = running.run(running.plan({"name": "a"}, {"name": "b", "needs": ["a"]}, choose=["b"]))
    assert statuses(manifest) == {"a": S.NOT_RUN, "b": S.PASS}
    assert manifest.stage("a").reason == "not asked for"


WRITE = "import os; open(os.environ['NPU_ASSAY_RESULTS'] + '/rows.jsonl', 'w').write({!r})"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("pass", "did not leave this file"),
        (WRITE.format(""), "left empty"),
        (WRITE.format('{"a": 1}\n{"a":'), "rows.jsonl:2: expected one JSON object"),
        (WRITE.format("\n"), "rows.jsonl:1: expected one JSON object"),
    ],
    ids=["missing", "empty", "half a row", "blank row"],
)
def test_what_a_stage_leaves_is_checked(running, tmp_path, bad, reason):
    def stage(program):
        return running.plan({"name": "one", "command": python(program), "leaves": ["results/rows.jsonl"]})

    assert statuses(running.run(stage(WRITE.format('{"a": 1}\n')))) == {"one": S.PASS}
    assert len(list(read_rows(running.archive.results / "rows.jsonl"))) == 1
    manifest = running.run(stage(bad), archive=create_archive(tmp_path / "second"))
    assert statuses(manifest) == {"one": S.FAIL}
    assert reason in manifest.stages[0].reason


@pytest.mark.parametrize(
    ("tests", "status", "reason"),
    [
        ("def test_a(): pass", S.PASS, ""),
        ("", S.FAIL, "exit code 5; no test was run"),
        ("def test_b(): assert 0", S.FAIL, "exit code 1; 1 failed: test_it::test_b"),
        ("def test_b(): pytest.skip('x')", S.INCONCLUSIVE, "1 skipped or expected to fail: test_it::test_b"),
        (
            "@pytest.mark.xfail\ndef test_b(): assert 0",
            S.INCONCLUSIVE,
            "1 skipped or expected to fail: test_it::test_b",
        ),
    ],
    ids=["passed", "no tests", "failed", "skipped", "xfail"],
)
def test_a_test_stage_passes_only_if_tests_ran_and_all_passed(running, tmp_path, tests, status, reason):
    stage = {"name": "one", "command": pytest_command(tmp_path / "tests", tests), "junit": True}
    manifest = running.run(running.plan(stage))
    assert statuses(manifest) == {"one": status}
    assert manifest.stages[0].reason.replace("tests.", "") == reason


def test_one_byte_fails_a_stage_whose_success_is_silent(running):
    manifest = running.run(
        running.plan(
            {"name": "silent", "empty_log": True},
            {"name": "chatty", "empty_log": True, "command": python("print()")},
        )
    )
    assert statuses(manifest) == {"silent": S.PASS, "chatty": S.FAIL}
    assert manifest.stage("chatty").reason == "printed 1 bytes; its success prints nothing"


@pytest.mark.parametrize(
    ("stage", "reason"),
    [
        ({"command": ["/nonexistent"]}, "can't be started: /nonexistent: No such file or directory"),
        ({"command": python("import os; os.kill(os.getpid(), 11)")}, "ended by SIGSEGV"),
        ({"command": python("import time; time.sleep(99)"), "timeout": 0.3}, "time limit of 0.3 s"),
        ({"command": python("print('x' * 999)"), "log_limit": 100}, "printed more than 100 bytes"),
    ],
    ids=["cannot start", "killed", "never ends", "prints too much"],
)
def test_bad_stages_fail_with_a_reason_and_the_archive_stays_consistent(running, stage, reason):
    manifest = running.run(running.plan({"name": "bad"} | stage, {"name": "good"}))
    assert statuses(manifest) == {"bad": S.FAIL, "good": S.PASS}
    assert reason in manifest.stages[0].reason
    assert check(running.archive) == []
    assert coreutils_agrees(running.archive.root)


def test_what_outlived_a_stage_is_on_record(running):
    program = "import os\nif os.fork() == 0:\n os.setsid(); os.execlp('sleep', 'sleep', '1000')\nos._exit(0)"
    manifest = running.run(running.plan({"name": "quiet"}, {"name": "leaky", "command": python(program)}))
    assert manifest.stage("quiet").left_behind == ()
    assert manifest.stage("leaky").left_behind == ("sleep 1000",)


def test_a_link_in_the_archive_fails_the_stage_and_is_removed(running):
    program = "import os; os.symlink('/etc/hostname', os.environ['NPU_ASSAY_RESULTS'] + '/link')"
    manifest = running.run(running.plan({"name": "good"}, {"name": "bad", "command": python(program)}))
    assert statuses(manifest) == {"good": S.PASS, "bad": S.FAIL}
    assert "results/link" in manifest.stage("bad").reason
    assert check(running.archive) == []


def test_a_log_on_a_full_disk_ends_the_run_and_what_was_done_is_sealed(running):
    talk = {"command": python("print('hello')")}
    plan = running.plan({"name": "full"} | talk, {"name": "later"} | talk)
    assert statuses(running.run(plan)) == {"full": S.PASS, "later": S.PASS}

    archive = create_archive(running.folder / "full")
    archive.stage_log("full").symlink_to("/dev/full")
    with pytest.raises(UnusableError, match=r"stage full: its log can't be written: No space left on device"):
        running.run(plan, archive=archive)
    assert statuses(read_manifest(archive.manifest)) == {"full": S.FAIL, "later": S.NOT_RUN}
    assert check(archive) == []
    assert coreutils_agrees(archive.root)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk; /dev/full is tested for all")
@pytest.mark.parametrize(("size", "is_kept"), [("4m", True), ("600k", False)])
def test_a_really_full_disk(running, tmp_path, size, is_kept):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], check=True)
    try:
        archive = create_archive(disk / "run")
        flood = {"name": "flood", "command": python("while True: print('x' * 1000)")}
        with pytest.raises(UnusableError, match=r"No space left on device.*--out") as error:
            running.run(running.plan(flood), archive=archive)
        assert error.value.exit_code == 4
        assert archive.root.exists() == is_kept
        if is_kept:
            assert check(archive) == []
            assert coreutils_agrees(archive.root)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


RUN_UNTIL_SIGNALLED = """
import sys
import time
from pathlib import Path
sys.path.insert(0, {here!r})
from small_pipelines import Running
from npu_assay.pipeline.interruption import interruptible
running = Running(Path({folder!r}))
endless = "import os, time; os.write(1, b'%d' % os.getpid()); time.sleep(1000)"
with interruptible() as interruption:
    running.run(
        running.plan({{"name": "endless", "command": ["{{python}}", "-c", endless]}}, {{"name": "later"}}),
        stop=lambda: bool(interruption),
    )
"""


PLACES = (
    *("ASCEND_PROCESS_LOG_PATH", "ASCEND_CACHE_PATH", "TRITON_HOME", "TRITON_CACHE_DIR"),
    *("TORCHINDUCTOR_CACHE_DIR", "VLLM_CACHE_ROOT"),
)


def test_logs_and_caches_of_a_stage_are_the_runs_and_gone_after_it(running, monkeypatch):
    for name in PLACES:
        monkeypatch.setenv(name, "/home/of/the/user")
    monkeypatch.setenv("ASCEND_GLOBAL_LOG_LEVEL", "1")
    program = (
        f"import json, os; places = {{name: os.environ[name] for name in {PLACES}}};"
        "[open(place + '/' + os.environ['NPU_ASSAY_STAGE'], 'w').close() for place in places.values()];"
        "print(json.dumps([places, os.listdir(places['VLLM_CACHE_ROOT']), os.environ['HOME'],"
        " os.environ['ASCEND_GLOBAL_LOG_LEVEL']]))"
    )
    stages = [{"name": name, "command": python(program)} for name in ("first", "second")]
    assert statuses(running.run(running.plan(*stages))) == {"first": S.PASS, "second": S.PASS}
    (places, _, home, level), (later_places, in_cache, _, _) = map(
        json.loads, (running.log("first"), running.log("second"))
    )
    work = running.archive.work
    assert all(Path(place).is_relative_to(work) for place in places.values())
    assert (home, level) == (os.environ["HOME"], "1")
    differing = {name for name in PLACES if places[name] != later_places[name]}
    assert differing == {"ASCEND_PROCESS_LOG_PATH"}
    assert sorted(in_cache) == ["first", "second"]
    assert not work.exists()


def test_a_link_in_a_cache_is_nothing_that_an_archive_could_hold(running):
    program = "import os; os.symlink('/nowhere', os.environ['VLLM_CACHE_ROOT'] + '/link')"
    assert statuses(running.run(running.plan({"name": "one", "command": python(program)}))) == {"one": S.PASS}
    assert check(running.archive) == []


INFOS = "os.environ['VLLM_CACHE_ROOT'] + '/modelinfos'"
WRITE_INFO = f"import os; os.makedirs({INFOS}, exist_ok=True); open({INFOS} + '/qwen.json', 'a').write('x')"


def test_what_vllm_finds_out_of_model_classes_outlives_the_run_where_it_may(running, tmp_path):
    stages = [{"name": name, "command": python(WRITE_INFO)} for name in ("first", "second")]
    running.run(running.plan(*stages))
    assert not (tmp_path / "infos").exists()
    for number in ("second", "third"):
        plan = running.plan(*stages, model_infos=tmp_path / "infos")
        assert set(statuses(running.run(plan, archive=create_archive(tmp_path / number))).values()) == {
            S.PASS
        }
        assert check(running.archive) == []
    assert (tmp_path / "infos/qwen.json").read_text() == "xxxx"


def test_an_environment_that_may_not_be_written_costs_time_and_nothing_else(running, tmp_path):
    stage = {"name": "one", "command": python(WRITE_INFO)}
    plan = running.plan(stage, model_infos=tmp_path / "infos")
    assert statuses(running.run(plan)) == {"one": S.PASS}
    (tmp_path / "file").touch()
    plan = running.plan(stage, model_infos=tmp_path / "file" / "infos")
    assert statuses(running.run(plan, archive=create_archive(tmp_path / "second"))) == {"one": S.PASS}


WRITE_PLOG = (
    "import os, sys; folder = os.environ['ASCEND_PROCESS_LOG_PATH'] + '/debug/plog';"
    "os.makedirs(folder); open(folder + '/plog-7_2026.log', 'w').write('[ERROR] RUNTIME');"
    "sys.exit({})"
)


def test_the_plog_of_a_stage_that_failed_is_kept_and_sealed(running):
    manifest = running.run(
        running.plan(
            {"name": "good", "command": python(WRITE_PLOG.format(0))},
            {"name": "bad", "command": python(WRITE_PLOG.format(1))},
            {"name": "silent", "command": python("raise SystemExit(1)")},
        )
    )
    assert statuses(manifest) == {"good": S.PASS, "bad": S.FAIL, "silent": S.FAIL}
    root = running.archive.root
    kept = [path.relative_to(root).as_posix() for path in (root / "plog").rglob("*") if path.is_file()]
    assert kept == ["plog/bad/debug/plog/plog-7_2026.log"]
    assert (root / kept[0]).read_text() == "[ERROR] RUNTIME"
    assert f"  {kept[0]}\n" in running.archive.sums.read_text()
    assert check(running.archive) == []


FILL = "import os, time; open(os.environ['VLLM_CACHE_ROOT'] + '/big', 'wb').write(bytes({})); time.sleep({})"


def test_a_stage_that_fills_the_work_folder_is_ended_and_the_next_one_has_room(running):
    limit = {"work_limit": 8 << 20}  # 1 MiB of it is what sealing needs
    manifest = running.run(
        running.plan(
            {"name": "little", "command": python(FILL.format(4 << 20, 2))} | limit,
            {"name": "much", "command": python(FILL.format(9 << 20, 1000))} | limit,
            {"name": "later", "command": python(FILL.format(4 << 20, 2))} | limit,
        )
    )
    assert statuses(manifest) == {"little": S.PASS, "much": S.FAIL, "later": S.PASS}
    assert manifest.stage("much").reason == (
        "the run's scratch files, and its logs and caches of CANN, Triton and vLLM, took more than"
        f" {8 << 20} bytes"
    )


def test_no_stage_dumps_its_core(running):
    program = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE)[0])"
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        running.run(running.plan({"name": "one", "command": python(program)}))
        assert resource.getrlimit(resource.RLIMIT_CORE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    assert running.log("one") == b"0\n"


KILLED_WITH_A_LOCK = """
import fcntl, sys
from pathlib import Path
sys.path.insert(0, {here!r})
from small_pipelines import Running
running = Running(Path({folder!r}))
lock = open({lock!r}, "w")
fcntl.flock(lock, fcntl.LOCK_EX)
endless = "import os, time; os.write(1, b'%d' % os.getpid()); time.sleep(1000)"
stage = {{"name": "endless", "command": ["{{python}}", "-c", endless]}}
running.run(running.plan(stage, locks=(lock.fileno(),)))
"""


def is_locked(path: Path) -> bool:
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_a_die_stays_locked_while_a_stage_of_a_killed_run_lives(tmp_path):
    lock = tmp_path / "die.lock"
    lock.touch()
    assert not is_locked(lock)
    program = KILLED_WITH_A_LOCK.format(here=str(Path(__file__).parent), folder=str(tmp_path), lock=str(lock))
    runner = subprocess.Popen([sys.executable, "-c", program])
    log = tmp_path / "run/stages/endless.log"
    while not (log.exists() and log.stat().st_size):
        assert runner.poll() is None
    runner.kill()
    runner.wait()
    stage = int(log.read_bytes())
    assert is_locked(lock)
    os.kill(stage, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while is_locked(lock):
        assert time.monotonic() < deadline


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_stage_and_the_archive_is_sealed(tmp_path, number):
    program = RUN_UNTIL_SIGNALLED.format(here=str(Path(__file__).parent), folder=str(tmp_path))
    runner = subprocess.Popen([sys.executable, "-c", program])
    log = tmp_path / "run/stages/endless.log"
    while not (log.exists() and log.stat().st_size):
        assert runner.poll() is None
    runner.send_signal(number)
    assert runner.wait(timeout=30) == 0

    archive = Archive(tmp_path / "run")
    manifest = read_manifest(archive.manifest)
    assert manifest.interrupted
    assert statuses(manifest) == {"endless": S.INTERRUPTED, "later": S.NOT_RUN}
    assert check(archive) == []
    assert not Path(f"/proc/{int(log.read_bytes())}").exists()
