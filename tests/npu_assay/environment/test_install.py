"""Installing: steps in order, once; a half-made environment is never used."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from npu_assay.cache import is_complete
from npu_assay.cann.discovery import Places
from npu_assay.cann.host import HostProvider
from npu_assay.disk import require_free
from npu_assay.environment.environment import Environment
from npu_assay.environment.install import install, install_step
from npu_assay.environment.lock import load_lock
from npu_assay.environment.obstacles import obstacles, require_none
from npu_assay.environment.steps import COMPILING, EMULATED, HARDWARE
from npu_assay.environment.steps.step import Facts, Report, Step
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError, UsageError


@dataclass
class Recorded:
    """Steps that note that they ran, and a progress that notes what it was told."""

    ran: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    failing: str = ""

    def step(self, name: str, *needs: str, elsewhere: Path | None = None) -> Step:
        def run(environment: Environment, report: Report) -> Facts:
            self.ran.append(name)
            if name == self.failing:
                raise UnusableError(f"{name} failed")
            if name == "first":
                environment.python.parent.mkdir(parents=True)
                environment.python.touch()
            if elsewhere:
                elsewhere.touch()
            return {"fact": name}

        done: Callable[[Environment], bool] | None = None
        if elsewhere:
            done = lambda environment: elsewhere.exists()  # noqa: E731
        return Step(name=name, needs=needs, run=run, done=done)

    def begin(self, step: str) -> None:
        self.told.append(f"begin {step}")

    def end(self, step: str, seconds: float | None) -> None:
        self.told.append(f"{'already' if seconds is None else 'end'} {step}")

    def fail(self, step: str) -> None:
        self.told.append(f"fail {step}")

    def note(self, line: str) -> None:
        self.told.append(line)


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


@pytest.fixture
def steps(recorded: Recorded, tmp_path: Path) -> list[Step]:
    """Two steps in the environment, then one that keeps its result elsewhere."""
    return [
        recorded.step("first"),
        recorded.step("second", "first"),
        recorded.step("third", "second", elsewhere=tmp_path / "third"),
    ]


def test_all_steps_run_in_order_and_once(small: Environment, steps: list[Step], recorded: Recorded) -> None:
    install(small, recorded, steps)
    assert recorded.ran == ["first", "second", "third"]
    assert recorded.told == [f"{what} {s.name}" for s in steps for what in ("begin", "end")]
    assert json.loads((small.root / "complete.json").read_text())["lock_sha256"] == small.lock.sha256
    stamp = json.loads((small.root / "steps" / "second.json").read_text())
    assert (stamp["step"], stamp["fact"]) == ("second", "second")

    install(small, recorded, steps)
    assert recorded.ran == ["first", "second", "third"]
    assert recorded.told[-1] == "already third"


def test_a_step_that_fails_is_told_as_failed(
    small: Environment, steps: list[Step], recorded: Recorded
) -> None:
    install(small, recorded, steps[:2])
    assert recorded.told == ["begin first", "end first", "begin second", "end second"]
    recorded.failing = "second"
    with pytest.raises(UnusableError):
        install(small, recorded, steps[:2], again=True)
    assert recorded.told[4:] == ["begin first", "end first", "begin second", "fail second"]


def test_what_is_kept_elsewhere_is_made_again_alone(
    small: Environment, steps: list[Step], recorded: Recorded, tmp_path: Path
) -> None:
    install(small, recorded, steps)
    (tmp_path / "third").unlink()
    install(small, recorded, steps)
    assert recorded.ran == ["first", "second", "third", "third"]


def test_a_step_that_comes_before_the_venv_is_not_run_after_it_again(
    small: Environment, recorded: Recorded, tmp_path: Path
) -> None:
    """As the host's CANN, which is judged every time, before anything is compiled against it."""
    host = replace(recorded.step("host", "first", elsewhere=tmp_path / "host"), always=True)
    steps = [recorded.step("first"), host, recorded.step("built", "host")]
    install(small, recorded, steps)
    assert recorded.ran == ["first", "host", "built"]
    install(small, recorded, steps)
    assert recorded.ran == ["first", "host", "built", "host"]
    install_step(small, "host", recorded, steps)
    assert recorded.ran[4:] == ["host"]


def test_a_half_made_environment_is_removed_and_made_again(
    small: Environment, steps: list[Step], recorded: Recorded
) -> None:
    recorded.failing = "second"
    with pytest.raises(UnusableError, match="second failed"):
        install(small, recorded, steps)
    assert not is_complete(small.root)
    (small.venv / "left").touch()

    recorded.failing = ""
    install(small, recorded, steps)
    assert recorded.ran == ["first", "second", "first", "second", "third"]
    assert not (small.venv / "left").exists()


def test_a_venv_whose_python_is_gone_is_made_again(
    small: Environment, steps: list[Step], recorded: Recorded
) -> None:
    install(small, recorded, steps)
    small.python.unlink()
    small.python.symlink_to("/gone/python3.11")
    install(small, recorded, steps)
    assert recorded.ran == ["first", "second", "third", "first", "second"]


def test_step_by_step_gives_a_whole_environment(
    small: Environment, steps: list[Step], recorded: Recorded
) -> None:
    for name in ("first", "second", "second", "third"):
        install_step(small, name, recorded, steps)
    assert recorded.ran == ["first", "second", "third"]
    assert is_complete(small.root)
    install(small, recorded, steps)
    assert recorded.ran == ["first", "second", "third"]


def test_a_step_says_which_earlier_one_is_missing(
    small: Environment, steps: list[Step], recorded: Recorded
) -> None:
    with pytest.raises(UnusableError, match=r"third needs step first, .* env install small --step first"):
        install_step(small, "third", recorded, steps)
    install_step(small, "first", recorded, steps)
    with pytest.raises(UnusableError, match="third needs step second"):
        install_step(small, "third", recorded, steps)
    assert recorded.ran == ["first"]


def test_no_step_builds_on_one_that_did_not_end_well(
    small: Environment, steps: list[Step], recorded: Recorded
) -> None:
    install_step(small, "first", recorded, steps)
    recorded.failing = "second"
    with pytest.raises(UnusableError, match="second failed"):
        install_step(small, "second", recorded, steps)
    recorded.failing = ""
    with pytest.raises(UnusableError, match=r"step second did not end well.*npu-assay env install small"):
        install_step(small, "second", recorded, steps)
    assert recorded.ran == ["first", "second"]


def test_an_unknown_step_is_refused_with_those_there_are(small: Environment, recorded: Recorded) -> None:
    with pytest.raises(UsageError, match=r"no step 'trition'; there are system, python, torch, triton, vllm"):
        install_step(small, "trition", recorded)


def test_a_cache_that_cant_be_written_is_one_line(
    small: Environment, steps: list[Step], recorded: Recorded
) -> None:
    small.cache.write_text("a file where the folder should be")
    with pytest.raises(UnusableError, match=r"can't write the cache: .*NPU_ASSAY_CACHE"):
        install(small, recorded, steps)


def test_again_makes_everything_again(small: Environment, steps: list[Step], recorded: Recorded) -> None:
    install(small, recorded, steps)
    (small.venv / "left").touch()
    install(small, recorded, steps, again=True)
    assert recorded.ran == ["first", "second", "third", "first", "second"]
    assert not (small.venv / "left").exists()


def test_a_disk_that_is_too_full_is_told_before_anything_is_done(
    small: Environment, steps: list[Step], recorded: Recorded
) -> None:
    content = small.lock.content.model_copy(update={"disk_mib": 1 << 40})
    large = replace(small, variant=replace(small.variant, lock=replace(small.lock, content=content)))
    for attempt in (
        lambda: install(large, recorded, steps),
        lambda: install_step(large, "first", recorded, steps),
    ):
        with pytest.raises(UnusableError, match=r"MiB free, environment small needs 1099511627776 MiB; make"):
            attempt()
    assert recorded.ran == []
    install(small, recorded, steps)
    assert recorded.ran == ["first", "second", "third"]


def test_room_is_looked_for_where_the_folder_will_be(tmp_path: Path) -> None:
    asked: list[Path] = []

    def usage(path: Path) -> Usage:
        asked.append(path)
        return Usage(free=3 << 20)

    require_free(tmp_path / "not" / "yet", 3, "it", "go away", usage)
    with pytest.raises(UnusableError) as raised:
        require_free(tmp_path / "not" / "yet", 4, "it", "go away", usage)
    assert str(raised.value) == f"{tmp_path}/not/yet: 3 MiB free, it needs 4 MiB; go away"
    assert asked == [tmp_path, tmp_path]


@dataclass(frozen=True)
class Usage:
    """What shutil.disk_usage says."""

    free: int


def test_what_cant_be_installed_whole_is_told_before_anything_is_done(
    small: Environment, steps: list[Step], recorded: Recorded, tmp_path: Path
) -> None:
    path = small.lock.path
    path.write_text(path.read_text().replace("0" * 64, "unverified", 1))
    hardware = Environment.of(load_lock("small", path.parent), "hardware", small.cache)
    hardware.__dict__["provider"] = HostProvider(variables={}, places=(Places(tmp_path / "Ascend"),))
    with pytest.raises(UnusableError) as raised:
        install(hardware, recorded, steps)
    for part in (
        "torch: its sha256 for",
        "no CANN: neither ASCEND_HOME_PATH nor ASCEND_TOOLKIT_HOME is set",
        "type: npu-assay cann install small --from DIR",
        "npu-assay env install small --device npu --step system",
    ):
        assert part in str(raised.value)
    assert recorded.ran == []
    install_step(hardware, "first", recorded, steps)
    assert recorded.ran == ["first"]


@pytest.mark.parametrize(
    ("name", "component", "says"),
    [
        ("cann900-vllm018", "torch", None),
        (
            "cann851-vllm018",
            "triton-ascend",
            "unverified; record the file .* npu-assay env lock cann851-vllm018",
        ),
        (
            "cann900-vllm018",
            "vllm-ascend",
            None,  # the step compiles it
        ),
        ("cann900-vllm018-torch210", "vllm-ascend", None),
        (
            "cann900-vllm018-torch210",
            "lmcache-ascend",
            "it is compiled from https://.* which this release does for vllm-ascend alone; build it in",
        ),
        ("cann900-vllm0221", "vllm-ascend", None),
    ],
)
def test_what_is_in_the_way_of_a_component_on_hardware(name: str, component: str, says: str | None) -> None:
    variant = Variant.of(load_lock(name), "hardware")
    if says is None:
        require_none(variant, component)
    else:
        with pytest.raises(UnusableError, match=says):
            require_none(variant, component)
    if not variant.lock.content.hardware_only:
        assert obstacles(Variant.of(variant.lock, "emulated")) == []


@pytest.mark.parametrize("steps", [EMULATED, HARDWARE, COMPILING], ids=["emulated", "hardware", "compiling"])
def test_every_step_comes_after_those_it_needs(steps: tuple[Step, ...]) -> None:
    names = [step.name for step in steps]
    for step in steps:
        assert set(step.needs) <= set(names[: names.index(step.name)]), step.name
