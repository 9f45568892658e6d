"""Published archives: whole, by name, and put right after whatever ended a publication."""

import subprocess
from pathlib import Path

import pytest
from offload_archive import OffloadArchive
from planted_shards import merged, plant_shards

from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive, seal, writing
from npu_assay.evidence.manifest import StageStatus
from npu_assay.evidence.publication import publish as publish_module
from npu_assay.evidence.publication.check import check_published
from npu_assay.evidence.publication.layout import Publication, check_name, default_name, stage_logs
from npu_assay.evidence.publication.publish import publish

NAME = "cann900-vllm018-emulated"
STAGES = 11


@pytest.fixture
def offload(tmp_path) -> OffloadArchive:
    """A sealed archive."""
    planted = OffloadArchive(tmp_path / "run")
    planted.seal()
    return planted


@pytest.fixture
def publication(tmp_path) -> Publication:
    (tmp_path / "checkout").mkdir()
    return Publication(tmp_path / "checkout")


def put(archive: Archive, publication: Publication, name: str = NAME, *, replace: bool = False) -> None:
    publish(archive, publication, name, replace=replace)


def problems(publication: Publication) -> list[str]:
    return [str(problem) for problem in check_published(publication)]


def coreutils(publication: Publication) -> int:
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    return subprocess.run(command, cwd=publication.checkout).returncode


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_an_archive_is_published_whole_with_its_logs_beside_it(offload, publication):
    put(offload.archive, publication)
    assert files_of(publication.logs / NAME) == files_of(offload.root)
    logs = {path.name: path.read_bytes() for path in publication.logs.glob("*.log")}
    assert len(logs) == STAGES
    assert logs[f"{NAME}-ruff.log"] == b"All checks passed!\n"
    assert logs[f"{NAME}-compileall.log"] == b""
    assert problems(publication) == []
    assert coreutils(publication) == 0
    names = {line.split("  ")[1] for line in publication.sums.read_text().splitlines()}
    assert names == {f"logs/{name}" for name in files_of(publication.logs)}
    assert not publication.staging.exists()


def test_a_stage_that_was_not_run_has_no_log(offload, publication):
    offload.remove_stage("ruff", StageStatus.NOT_RUN, "not asked for")
    offload.seal()
    put(offload.archive, publication)
    assert not (publication.logs / f"{NAME}-ruff.log").exists()
    assert problems(publication) == []


def test_a_merged_archive_has_a_log_of_each_shard_where_all_ran_a_stage(tmp_path, publication):
    archive = Archive(merged(plant_shards(tmp_path), tmp_path / "merged"))
    assert default_name(archive, emulated=True) == NAME
    put(archive, publication)
    logs = {path.name.removeprefix(f"{NAME}-") for path in publication.logs.glob("*.log")}
    assert {"ruff.log", "unit.log", "health-1-of-2.log", "health-2-of-2.log"} < logs
    assert len(logs) == 6 + 2 * 5
    assert problems(publication) == []


def test_a_name_that_is_taken_is_refused_and_replaced_when_asked(offload, publication):
    put(offload.archive, publication)
    before = files_of(publication.checkout)
    offload.write("stages/ruff.log", "All checks passed!\nagain\n")
    offload.remove_stage("compileall", StageStatus.NOT_RUN, "not asked for")
    offload.seal()
    with pytest.raises(UsageError, match=r"there already; choose another --name, or say --replace"):
        put(offload.archive, publication)
    assert files_of(publication.checkout) == before

    put(offload.archive, publication, replace=True)
    assert (publication.logs / f"{NAME}-ruff.log").read_bytes() == b"All checks passed!\nagain\n"
    assert not (publication.logs / f"{NAME}-compileall.log").exists()
    assert problems(publication) == []
    assert coreutils(publication) == 0


def test_archives_stand_beside_each_other(offload, publication):
    put(offload.archive, publication)
    put(offload.archive, publication, "emulated-of-another-day")
    assert sorted(publication.archives()) == [NAME, "emulated-of-another-day"]
    assert len(list(publication.logs.glob("*.log"))) == 2 * STAGES
    assert problems(publication) == []


def test_two_archives_share_no_log(offload, publication):
    """A stage `transfer` of `emulated-native` would have the log of `native-transfer` of `emulated`."""
    put(offload.archive, publication, "emulated")
    stages = tuple(
        stage.model_copy(update={"name": "transfer"}) if stage.name == "ruff" else stage
        for stage in offload.manifest.stages
    )
    offload.change_manifest(stages=stages)
    offload.archive.stage_log("ruff").rename(offload.archive.stage_log("transfer"))
    offload.seal()
    with pytest.raises(
        UsageError, match=r"logs/emulated-native-transfer\.log is the log of emulated already"
    ):
        put(offload.archive, publication, "emulated-native")
    assert problems(publication) == []


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "A", "a_b", "-a", "a--b", "a-", "a\n", "x" * 101, ".publishing", "\udcff"],
)
def test_a_name_that_is_none_is_refused(name):
    check_name("cann900-vllm018", emulated=False)
    with pytest.raises(
        UsageError, match=r"expected lower-case letters, digits and dashes, at most 100"
    ) as error:
        check_name(name, emulated=False)
    assert "\n" not in str(error.value)


def test_an_emulated_run_says_so_in_its_name():
    check_name("cann900-vllm018", emulated=False)
    check_name("first-emulated-run", emulated=True)
    for name in ("cann900-vllm018", "unemulated", "emulatedx-run"):
        with pytest.raises(UsageError, match=f"its name has to say so: {name}-emulated"):
            check_name(name, emulated=True)


def test_the_default_name_is_the_environments(offload):
    assert default_name(offload.archive, emulated=True) == NAME
    assert default_name(offload.archive, emulated=False) == "cann900-vllm018"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda root: (root / "stages/ruff.log").write_text("x"),
            "not as it was sealed: stages/ruff.log: changed",
        ),
        (lambda root: (root / "more").touch(), "not as it was sealed: more: not in SHA256SUMS"),
        (lambda root: (root / "SHA256SUMS").unlink(), "SHA256SUMS: missing"),
        (lambda root: (root / "link").symlink_to("/etc/hostname"), "link: not a regular file"),
    ],
    ids=["changed", "extra", "never sealed", "link"],
)
def test_an_archive_that_is_not_as_it_was_sealed_is_refused(offload, publication, damage, message):
    put(offload.archive, publication)
    before = files_of(publication.checkout)
    damage(offload.root)
    with pytest.raises(UsageError, match=message):
        put(offload.archive, publication, replace=True)
    assert files_of(publication.checkout) == before
    assert not publication.staging.exists()


class Killed(BaseException):
    """What nothing catches."""


#: The steps of a publication, each of which is killed in turn before it is done.
STEPS = ("copy_checked", "_write_logs", "write_atomically", "rename of the old", "rename of the new")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("dead", [False, True], ids=["interrupted", "killed"])
def test_whatever_ends_a_publication_the_next_one_mends_it(offload, publication, monkeypatch, step, dead):
    put(offload.archive, publication)
    old = files_of(publication.logs / NAME)
    offload.write("stages/ruff.log", "All checks passed!\nagain\n")
    offload.seal()
    new = files_of(offload.root)
    with monkeypatch.context() as patches:
        if dead:  # nothing is put right on the way out
            patches.setattr(publish_module, "_take_back", lambda publication: None)
        end_at(step, patches)
        with pytest.raises(Killed):
            put(offload.archive, publication, replace=True)
    left = publication.staging / NAME / "old"
    there = files_of(left if left.exists() else publication.logs / NAME)
    assert there in (old, new)

    put(offload.archive, publication, "emulated-too")
    assert problems(publication) == []
    assert coreutils(publication) == 0
    assert files_of(publication.logs / NAME) in (old, new)
    put(offload.archive, publication, replace=True)
    assert files_of(publication.logs / NAME) == new
    assert problems(publication) == []


def end_at(step: str, patches: pytest.MonkeyPatch) -> None:
    def die(*arguments: object) -> None:
        raise Killed

    if not step.startswith("rename"):
        patches.setattr(publish_module, step, die)
        return
    rename, kind = Path.rename, "old" if step.endswith("old") else "new"

    def rename_or_die(self: Path, target: Path) -> Path:
        if kind in (self.name, target.name):
            raise Killed
        return rename(self, target)

    patches.setattr(Path, "rename", rename_or_die)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (
            lambda logs: (logs / f"{NAME}-ruff.log").write_text("x"),
            [f"logs/{NAME}-ruff.log: changed: sha256 is ", f"logs/{NAME}-ruff.log: not what the archive has"],
        ),
        (
            lambda logs: (logs / f"{NAME}-ruff.log").unlink(),
            [
                f"logs/{NAME}-ruff.log: in SHA256SUMS, but no file",
                f"logs/{NAME}-ruff.log: missing; the archive",
            ],
        ),
        (
            lambda logs: (logs / "more.log").touch(),
            ["logs/more.log: not in SHA256SUMS", "logs/more.log: the log of no archive"],
        ),
        (
            lambda logs: (logs / NAME / "environment.json").write_text("{}"),
            [
                f"logs/{NAME}/environment.json: changed: sha256 is ",
                f"logs/{NAME}/environment.json: by the archive's own SHA256SUMS: changed",
            ],
        ),
        (
            lambda logs: (logs / NAME / "more").touch(),
            [
                f"logs/{NAME}/more: not in SHA256SUMS",
                f"logs/{NAME}/more: by the archive's own SHA256SUMS: not in SHA256SUMS",
            ],
        ),
        (lambda logs: (logs / "link").symlink_to("/etc/hostname"), ["logs/link: not a regular file"]),
        (lambda logs: (logs / "folder").mkdir(), ["logs/folder: no archive: "]),
        (
            lambda logs: (logs / ".publishing").mkdir(),
            ["logs/.publishing: left by a publication that was ended; publish again"],
        ),
    ],
    ids=[
        "log changed",
        "log gone",
        "log of nothing",
        "file changed",
        "file added",
        "link",
        "folder",
        "leftovers",
    ],
)
def test_a_difference_is_named(offload, publication, damage, problem):
    put(offload.archive, publication)
    assert problems(publication) == []
    damage(publication.logs)
    found = problems(publication)
    assert len(found) == len(problem), found
    assert all(one.startswith(expected) for one, expected in zip(found, problem, strict=True)), found


def test_a_name_that_hides_the_emulation_is_found(offload, publication):
    put(offload.archive, publication)
    assert problems(publication) == []
    for log in stage_logs(NAME, publication.archive(NAME)):
        (publication.logs / log).rename(publication.logs / log.replace("-emulated", ""))
    (publication.logs / NAME).rename(publication.logs / "cann900-vllm018")
    text = publication.sums.read_text()
    publication.sums.write_text(text.replace("-emulated", ""))
    assert problems(publication) == ["logs/cann900-vllm018: was emulated, which its name does not say"]


def test_a_file_outside_of_logs_is_not_listed(offload, publication):
    put(offload.archive, publication)
    assert problems(publication) == []
    with publication.sums.open("a") as sums:
        sums.write(f"{'0' * 64}  README.md\n")
    assert problems(publication) == ["README.md: in SHA256SUMS, but no file under logs/"]


def test_nothing_published_is_said(tmp_path):
    with pytest.raises(UsageError, match="no logs/ with a SHA256SUMS beside it"):
        check_published(Publication(tmp_path))


def test_a_consistent_lie_about_a_log_is_found(offload, publication):
    """With every SHA256SUMS written again, the log beside the archive is still not the archive's."""
    put(offload.archive, publication)
    assert problems(publication) == []
    (publication.logs / NAME / "stages/ruff.log").write_text("E999 SyntaxError\n")
    seal(publication.archive(NAME))
    listing = publish_module.render_sums(publish_module._sums(publication))
    publication.sums.write_bytes(listing)
    assert problems(publication) == [f"logs/{NAME}-ruff.log: not what the archive has"]


def test_two_publications_do_not_mix(offload, publication):
    put(offload.archive, publication)
    with writing(Archive(publication.logs)):
        with pytest.raises(UsageError, match="logs: in use by another npu-assay"):
            put(offload.archive, publication, "emulated-too")
        with pytest.raises(UsageError, match="logs: another npu-assay is writing to it"):
            check_published(publication)
    assert problems(publication) == []


def test_an_archive_that_is_being_written_is_not_published(offload, publication):
    with writing(offload.archive), pytest.raises(UsageError, match="another npu-assay is writing to it"):
        put(offload.archive, publication)
    put(offload.archive, publication)
    assert problems(publication) == []


@pytest.mark.parametrize(
    "name", [".gitattributes", "stages/.gitattributes", "results/.GITIGNORE", ".git/config"]
)
def test_an_archive_that_would_rule_git_is_not_published(offload, publication, name):
    put(offload.archive, publication)
    before = files_of(publication.checkout)
    offload.write(name, "* text=auto eol=crlf\n")
    offload.seal()
    with pytest.raises(UsageError, match=f"{name}: git acts on such a file; it can't be published"):
        put(offload.archive, publication, replace=True)
    assert files_of(publication.checkout) == before
    publication.logs.joinpath(".gitattributes").touch()
    assert problems(publication)[0] == "logs/.gitattributes: git acts on such a file"
