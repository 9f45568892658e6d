"""One writer at a time; one that dies leaves nothing that verifies; nothing outside is read or written."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from processes import in_a_process

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.commands.archive import archive as archive_command
from npu_assay.commands.report import report as report_command
from npu_assay.commands.verify import verify as verify_command
from npu_assay.errors import AssayError, UsageError
from npu_assay.evidence import atomic
from npu_assay.evidence.archive import Archive, check, create_archive, reading, seal, writing
from npu_assay.evidence.atomic import write_atomically
from npu_assay.report.derived import DERIVED, derive, judge

HOLD = """
import sys
from pathlib import Path
from npu_assay.evidence.archive import Archive, reading, writing
root = Path(sys.argv[2])
with writing(Archive(root)) if sys.argv[1] == "writing" else reading(root):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def archive(offload) -> Archive:
    offload.derive()
    return offload.archive


class Holder:
    """Another process that writes to an archive, or judges it, until it is let go or killed."""

    def __init__(self, what: str, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, what, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout.readline() == b"held\n"

    def __enter__(self) -> "Holder":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def exit_of(command, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(command, arguments)
    return getattr(done.exception, "exit_code", done.exit_code), str(done.exception or "")


def test_who_writes_has_the_archive_for_himself(archive):
    root = str(archive.root)
    commands = [(verify_command, (root, "--mode", "emulated")), (archive_command, ("check", root))]
    commands += [(archive_command, ("sums", root)), (report_command, (root,))]
    for command, arguments in commands:
        assert exit_of(command, *arguments)[0] == 0
    before = archive.sums.read_bytes()
    with Holder("writing", archive.root):
        for command, arguments in commands:
            code, message = exit_of(command, *arguments)
            assert code == 2
            assert message.startswith(f"{root}: ")
            assert message.endswith("wait until that has ended")
    assert archive.sums.read_bytes() == before
    for command, arguments in commands:  # the writer was killed: its lock went with it
        assert exit_of(command, *arguments)[0] == 0


def test_readers_share_an_archive_and_a_writer_waits_for_them(archive):
    root = str(archive.root)
    with Holder("reading", archive.root), reading(archive.root):
        assert exit_of(archive_command, "check", root)[0] == 0
        assert exit_of(archive_command, "sums", root)[0] == 2
    with writing(archive):
        pass
    assert exit_of(archive_command, "sums", root)[0] == 0


def test_two_runs_cannot_have_one_folder(tmp_path):
    """Each starts when the other does; one gets the folder, and it holds that one's files alone."""
    program = (
        "import sys; from pathlib import Path; from npu_assay.errors import UsageError\n"
        "from npu_assay.evidence.archive import create_archive, writing\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "try:\n"
        "    archive = create_archive(Path(sys.argv[1]))\n"
        "    with writing(archive): (archive.results / sys.argv[2]).write_text('')\n"
        "except UsageError: sys.exit(2)\n"
    )
    for number in range(4):
        root = tmp_path / f"run-{number}"
        pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        both = [subprocess.Popen([sys.executable, "-c", program, str(root), name], **pipe) for name in "ab"]
        for one in both:
            assert one.stdout.readline() == b"ready\n"
        for one in both:
            one.stdin.write(b"\n")
            one.stdin.flush()
        codes = [one.wait() for one in both]
        for one in both:
            one.communicate()
        assert sorted(codes) == [0, 2]
        assert [path.name for path in (root / "results").iterdir()] == ["ab"[codes.index(0)]]


def test_a_folder_that_is_no_archive_keeps_whatever_it_has(tmp_path):
    mine = tmp_path / ".manifest.json.a1b2c3d4.tmp"
    mine.touch()
    assert exit_of(archive_command, "sums", str(tmp_path))[0] == 2
    assert mine.exists()
    (tmp_path / "manifest.json").write_text("{}")
    assert exit_of(archive_command, "sums", str(tmp_path))[0] == 0
    assert not mine.exists()


def test_a_folder_that_cannot_be_locked_is_still_judged(archive, monkeypatch):
    def no_locks(descriptor: int, operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with reading(archive.root):
        assert check(archive) == []


class Killed:
    """Kills the process at the n-th step of writing files atomically."""

    def __init__(self, at: int) -> None:
        self.left = at

    def step(self) -> None:
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1

    def before(self, owner: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        function = getattr(owner, name)

        def stepping(*arguments, **options):
            self.step()
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, stepping)


#: What is written, in this order, in four steps each; the third is the rename.
WRITTEN = ("manifest.json", "SHA256SUMS", *(derived.name for derived in DERIVED))


def steps_to(name: str) -> int:
    """After how many steps that file is in its place."""
    return WRITTEN.index(name) * 4 + 3


@pytest.mark.parametrize(
    ("sealed_before", "verifies_after"),
    [(False, steps_to("statement.intoto.json")), (True, steps_to(WRITTEN[-1]))],
    ids=["the first time", "again, when a log has changed since"],
)
def test_a_writer_that_is_killed_leaves_nothing_that_verifies(offload, sealed_before, verifies_after):
    """At every step. Reports may be missing, but not be those of the log before."""

    def work(at: int) -> None:
        monkeypatch, killed = pytest.MonkeyPatch(), Killed(at)
        killed.before(atomic.tempfile, "mkstemp", monkeypatch)
        killed.before(atomic.os, "fsync", monkeypatch)
        killed.before(atomic.Path, "replace", monkeypatch)
        offload.write("stages/ruff.log", "All checks passed!\n\n")
        with writing(offload.archive):
            offload.derive()

    if sealed_before:
        offload.derive()
        assert judge(offload.root, Mode.EMULATED, offload.checkout).result is Result.PASS
    steps = len(WRITTEN) * 4
    for at in range(steps + 1):
        assert in_a_process(lambda at=at: work(at)) == (0 if at == steps else -signal.SIGKILL)
        try:
            result = judge(offload.root, Mode.EMULATED, offload.checkout).result
        except UsageError:
            result = Result.FAIL
        whole = at >= verifies_after and not list(offload.root.glob(".*.tmp"))
        assert (result is Result.PASS) == whole, f"killed before step {at}"
        if not sealed_before:
            for path in (*offload.root.glob(".*"), *map(offload.root.joinpath, WRITTEN)):
                path.unlink(missing_ok=True)
    assert list(offload.root.glob(".*")) == [], "what the killed ones left half-written is gone"


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    monkeypatch.setattr(atomic.os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        write_atomically(path, b"new")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("file", b"old")]


def test_a_link_in_place_of_a_written_file_is_replaced_and_not_followed(archive, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("mine")
    statement = archive.root / "statement.intoto.json"
    statement.unlink()
    statement.symlink_to(outside)
    with pytest.raises(AssayError, match="an archive holds regular files only"):
        seal(archive)
    derive(archive.root)
    assert not statement.is_symlink()
    assert outside.read_text() == "mine"


def test_files_below_a_linked_folder_are_no_files_of_the_archive(archive, tmp_path):
    assert check(archive) == []
    (archive.root / "results").rename(tmp_path / "elsewhere")
    (archive.root / "results").symlink_to(tmp_path / "elsewhere")
    problems = [str(problem) for problem in check(archive)]
    assert "results: not a regular file; an archive holds nothing else" in problems
    assert "results/kv-offload.jsonl: in SHA256SUMS, but missing from the archive" in problems


def test_a_pipe_that_takes_a_files_place_is_not_waited_for(archive):
    assert check(archive) == []
    log = archive.stage_log("ruff")
    log.unlink()
    os.mkfifo(log)
    assert [str(problem) for problem in check(archive)] == [
        "stages/ruff.log: not a regular file; an archive holds nothing else"
    ]


def test_a_new_archive_takes_no_folder_with_anything_in_it(tmp_path):
    (tmp_path / "run" / "results").mkdir(parents=True)
    with pytest.raises(UsageError, match="not empty"):
        create_archive(tmp_path / "run")
