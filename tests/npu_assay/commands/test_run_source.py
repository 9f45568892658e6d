"""Which vllm-ascend a run is asked for: options, else the pipeline file, else the lock's own."""

from pathlib import Path

import pytest

from npu_assay.cli import main
from npu_assay.commands.run_source import requested
from npu_assay.environment.ascend_build.request import Request
from npu_assay.errors import UsageError
from npu_assay.pipeline.definition import VllmAscend
from npu_assay.source.location import Folder, GitRef


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipeline file beside a tree and a patch, and another patch where the command is typed."""
    (tmp_path / "ci/tree").mkdir(parents=True)
    (tmp_path / "ci/a.patch").write_text("a")
    (tmp_path / "typed").mkdir()
    (tmp_path / "typed/b.patch").write_text("b")
    monkeypatch.chdir(tmp_path / "typed")
    return tmp_path / "ci/own.toml"


def test_nothing_is_the_locks_own(pipeline: Path) -> None:
    assert requested(None, (), VllmAscend(), pipeline) == Request(None, ())


def test_paths_of_a_pipeline_start_at_its_folder(pipeline: Path) -> None:
    found = requested(None, (), VllmAscend(source="tree", patches=["a.patch"]), pipeline)
    assert found.location == Folder(pipeline.parent / "tree")
    assert [patch.data for patch in found.patches] == [b"a"]
    named = requested(None, (), VllmAscend(source="git+https://h/x@main"), pipeline)
    assert isinstance(named.location, GitRef)


@pytest.mark.parametrize(("source", "patches"), [(".", ()), (None, (Path("b.patch"),))])
def test_options_take_the_place_of_all_of_it(
    pipeline: Path, source: str | None, patches: tuple[Path, ...]
) -> None:
    of_pipeline = VllmAscend(source="tree", patches=["a.patch"])
    found = requested(source, patches, of_pipeline, pipeline)
    assert found.location == (Folder(Path.cwd()) if source else None)
    assert [patch.data for patch in found.patches] == ([b"b"] if patches else [])
    with pytest.raises(UsageError, match="gone: no such folder"):
        requested("gone", patches, of_pipeline, pipeline)


def test_build_takes_an_archive_or_sources(
    pipeline: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # An image's, which its stage `build` inherits.
    monkeypatch.setenv("NPU_ASSAY_VLLM_ASCEND", "of-the-image")
    monkeypatch.setenv("NPU_ASSAY_PATCH", "of-the-image")
    for options, says in (
        (["--archive", "x", "--patch", "b.patch"], "--archive names what to build; leave out"),
        (["--archive", "x"], "x/source/source.json: can't be read (No such file or directory)"),
        (["--archive", "x", "--export", "y"], "leave out --vllm-ascend, --patch and --export"),
        (["--export", "y", "--patch", "b.patch"], "--export takes --vllm-ascend SOURCE and no --patch"),
        ([], "--vllm-ascend of-the-image: no such folder or file"),
        (["--vllm-ascend", "gone"], "--vllm-ascend gone: no such folder or file"),
    ):
        monkeypatch.setattr("sys.argv", ["npu-assay", "build", "--device", "emulated", *options])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert says in capsys.readouterr().err
