"""What benchmarks/images.py builds and says; that it builds at all shows in a run of it."""

import subprocess
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import image_builds
import images
import pytest
from click.testing import CliRunner
from dockerfile_parts import chain
from image_builds import PLUG_IN, SOURCE_FIRST, Sources, copy_checkout
from image_times import OrderTimes, excesses, table
from source_first import source_first

from npu_assay.docker.dockerfile import DOCKERFILE, read_stages
from npu_assay.errors import UsageError

CHANGES = ["a line of the plug-in", "a line of a patch"]


def times(cold: float, *rebuilds: float) -> OrderTimes:
    """Ours, each change once."""
    return OrderTimes("ours", cold, dict(zip(CHANGES, ([seconds] for seconds in rebuilds), strict=True)))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (times(300, 19.9, 3), []),
        (times(300, 3, 20), ["after a line of a patch: 20.0 s, less than 20 s are allowed"]),
        (
            times(100, 10.5, 10),
            ["after a line of the plug-in: 0.105 of the cold build, at most 0.1 are allowed"],
        ),
        (
            times(100, 3, 50),
            [
                "after a line of a patch: 50.0 s, less than 20 s are allowed",
                "after a line of a patch: 0.500 of the cold build, at most 0.1 are allowed",
            ],
        ),
    ],
)
def test_what_took_more_than_it_may_is_said(found: OrderTimes, said: list[str]) -> None:
    assert list(excesses(found)) == said


def test_the_table_has_a_line_for_each_order() -> None:
    ours = OrderTimes("ours", 400, {"a": [3, 5, 4], "b": [8]})
    other = OrderTimes("the source first", 410, {"a": [390], "b": [400]})
    assert (
        table([ours, other])
        == """\
| layers | cold | after a | after b |
| --- | --- | --- | --- |
| ours | 400 s | 4.0 s (3.0 to 5.0), **0.010** of the cold build | 8.0 s, **0.020** of the cold build |
| the source first | 410 s | 390.0 s, **0.951** of the cold build | 400.0 s, **0.976** of the cold build |
"""
    )


def slow_before(path: Path, copy: str) -> list[str]:
    """The emulated image's stages that run something before that COPY, in order."""
    found: list[str] = []
    arguments = {"BASE": "", "CANN": "emulated", "DEVICE": "emulated", "IMAGE": "runtime"}
    for stage in chain("image", arguments, path):
        for line in stage.instructions:
            if line == copy:
                return found
            if line.startswith("RUN ") and stage.name not in found:
                found.append(stage.name)
    raise AssertionError(f"{path}: no {copy}")


def test_in_the_other_order_the_source_and_patches_come_before_whatever_is_slow(tmp_path: Path) -> None:
    other = tmp_path / "Dockerfile"
    other.write_text(source_first(DOCKERFILE.read_text()))
    assert {"machine-runtime", "torch", "built-emulated"} < set(
        slow_before(DOCKERFILE, "COPY src /opt/npu-assay/src")
    )
    assert slow_before(other, "COPY src /opt/npu-assay/src") == []
    assert slow_before(other, "COPY --from=patches . /opt/source-first/") == []
    ours, theirs = read_stages(DOCKERFILE), read_stages(other)
    assert list(ours) == list(theirs)
    assert [stage.base for stage in ours.values()] == [stage.base for stage in theirs.values()]
    assert [stage.steps for stage in ours.values()] == [stage.steps for stage in theirs.values()]


@pytest.mark.parametrize(("stage", "other"), [("machine-runtime", "another"), ("image", "another")])
def test_a_dockerfile_of_other_stages_is_said(stage: str, other: str) -> None:
    text = DOCKERFILE.read_text()
    with pytest.raises(UsageError, match=r"docker/Dockerfile: expected a stage machine-runtime .* another"):
        source_first(text.replace(f" AS {stage}\n", f" AS {other}\n"))


def test_every_change_is_one_that_no_build_has_seen(tmp_path: Path) -> None:
    sources = Sources(tmp_path / "checkout", tmp_path / "patches")
    plug_in = sources.checkout / PLUG_IN / "__init__.py"
    plug_in.parent.mkdir(parents=True)
    plug_in.write_text("")
    sources.change_patch()
    seen: list[tuple[bytes, bytes]] = []

    def build() -> float:
        (patch,) = sources.patches.iterdir()
        seen.append((plug_in.read_bytes(), patch.read_bytes()))
        return float(len(seen))

    found = images.measure("ours", sources, build, images.CHANGES, 2)
    assert found == OrderTimes("ours", 1.0, dict(zip(CHANGES, ([2.0, 4.0], [3.0, 5.0]), strict=True)))
    assert len(set(seen)) == 5
    assert [before[0] == after[0] for before, after in pairwise(seen)] == [0, 1, 0, 1]
    assert [before[1] == after[1] for before, after in pairwise(seen)] == [1, 0, 1, 0]


def test_its_patch_applies(tmp_path: Path) -> None:
    Sources(tmp_path, tmp_path / "patches").change_patch()
    apply = ["git", "apply", "--check", "patches/0001-benchmark.patch"]
    assert subprocess.run(apply, cwd=tmp_path, check=False).returncode == 0
    (tmp_path / "vllm_ascend").mkdir()
    (tmp_path / "vllm_ascend" / "npu_assay_benchmark.py").write_text("")
    assert subprocess.run(apply, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_it_builds_from_what_is_committed_or_would_be(tmp_path: Path) -> None:
    copy_checkout(tmp_path)
    assert (tmp_path / PLUG_IN / "__init__.py").is_file()
    assert (tmp_path / SOURCE_FIRST).read_text() == source_first(DOCKERFILE.read_text())
    ignored = DOCKERFILE.with_name("Dockerfile.dockerignore").read_bytes()
    assert (tmp_path / f"{SOURCE_FIRST}.dockerignore").read_bytes() == ignored
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("failure", "code", "said"),
    [
        (None, 0, "| ours | 100 s |"),
        ("no dockerd: install it", 4, "images.py: no dockerd: install it"),
    ],
)
def test_the_exit_code_says_whether_it_was_measured(
    failure: str | None, code: int, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What no test can wait for, the builds, are stood in for."""

    class Version:
        stdout = "26.1\n"

    class Engine:
        def docker(self, *arguments: str) -> Version:
            return Version()

    monkeypatch.setattr(image_builds, "missing", lambda: failure)
    if failure is None:
        bakery = image_builds.Bakery(Engine(), Sources(tmp_path, tmp_path), "base", tmp_path)
        monkeypatch.setattr(images, "bakery", lambda scratch, fetched: nullcontext(bakery))
    monkeypatch.setattr(images, "both_orders", lambda bakery, repetitions: [times(100, 1, 1)])
    ended = CliRunner().invoke(images.main, [])
    assert ended.exit_code == code, ended.output
    assert said in ended.output
    if failure is None:
        monkeypatch.setattr(images, "both_orders", lambda bakery, repetitions: [times(100, 1, 11)])
        ended = CliRunner().invoke(images.main, [])
        assert ended.exit_code == 1
        assert "TOO MUCH: after a line of a patch: 0.110 of the cold build" in ended.stderr
