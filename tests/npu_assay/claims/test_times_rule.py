"""The clocks in a stage's raw files lie within the time in which it ran."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from offload_archive import OffloadArchive, clock, messages

from npu_assay.claims.findings import Result
from npu_assay.evidence.manifest import StageStatus

LOG, JUNIT = "stages/native-high-level.log", "stages/unit.junit.xml"
STAGE = "native-high-level"


def shifted(*stages: str, **by: float) -> Callable[[OffloadArchive], None]:
    """Every line of vLLM's in these stages' logs is of another time."""

    def change(run: OffloadArchive) -> None:
        for stage in stages:
            began = run.began(stage)
            run.replace(f"stages/{stage}.log", clock(began), clock(began + timedelta(**by)))

    return change


def junit_shifted(run: OffloadArchive) -> None:
    began = run.began("unit")
    run.replace(JUNIT, began.isoformat(), (began - timedelta(days=1)).isoformat())


def test_the_times_of_a_good_archive_are_counted(offload: OffloadArchive) -> None:
    verdict = offload.verdict()
    assert "times/1: 7 times in logs and JUnit files lie within their stages " in messages(
        verdict, Result.PASS
    )
    assert verdict.result is Result.PASS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (junit_shifted, "times/1: unit: JUnit has the time 2026-11-29T01:"),
        (shifted(STAGE, minutes=5), f"times/1: {STAGE}: its log has the time 11-30 01:"),
        (shifted(STAGE, days=1), f"times/1: {STAGE}: its log has the time 12-01 01:"),
        (shifted(STAGE, days=-40), f"times/1: {STAGE}: its log has the time 10-21 01:"),
        (
            lambda run: run.replace(LOG, clock(run.began(STAGE)), "02-30 25:00:00"),
            f"times/1: {STAGE}: its log has the time 02-30 25:00:00, the stage ran from 2026-11-30T01:",
        ),
        (
            lambda run: run.write(LOG, (run.root / "stages/unit.log").read_text()),
            f"times/1: {STAGE}: its log has the time 11-30 01:",
        ),
    ],
    ids=["JUnit of yesterday", "minutes later", "a day later", "in autumn", "no date", "another stage's log"],
)
def test_a_clock_of_another_time_fails(
    offload: OffloadArchive, change: Callable[[OffloadArchive], object], message: str
) -> None:
    assert offload.verdict().result is Result.PASS
    change(offload)
    assert message in "\n".join(messages(offload.verdict(), Result.FAIL))


@pytest.mark.parametrize("hours", [8, -5, 5.75])
def test_vllms_clock_is_of_any_time_zone_but_of_one(offload: OffloadArchive, hours: float) -> None:
    stages = ("unit", "native-transfer", STAGE)
    shifted(*stages, hours=hours)(offload)
    assert offload.verdict().result is Result.PASS, messages(offload.verdict(), Result.FAIL)
    offload.write_tests(STAGE)
    verdict = offload.verdict()
    assert verdict.result is Result.INCONCLUSIVE
    assert f"times/1: {STAGE}: its clock is of another time zone" in messages(verdict, Result.INCONCLUSIVE)[0]


def test_vllms_clock_has_no_year(offload: OffloadArchive) -> None:
    """A run over New Year's Eve."""
    began = datetime(2026, 12, 31, 23, 59, 50, tzinfo=UTC)
    moved = began - offload.manifest.stages[0].started
    stages = tuple(
        stage.model_copy(update={"started": stage.started + moved}) for stage in offload.manifest.stages
    )
    offload.change_manifest(
        started=offload.manifest.started + moved, finished=offload.manifest.finished + moved, stages=stages
    )
    for stage in ("unit", "native-transfer", STAGE, "vllm-ascend-ut"):
        for name in (f"stages/{stage}.log", f"stages/{stage}.junit.xml"):
            text = (offload.root / name).read_text()
            old = offload.began(stage) - moved
            for one, other in (
                (clock(old), clock(offload.began(stage))),
                (old.isoformat(), offload.began(stage).isoformat()),
            ):
                text = text.replace(one, other)
            offload.write(name, text)
    assert offload.verdict().result is Result.PASS, messages(offload.verdict(), Result.FAIL)


def test_junit_without_a_time_is_inconclusive(offload: OffloadArchive) -> None:
    for time in ("", "2026-11-30T01:02:03", "yesterday"):
        offload.write_tests("unit")
        offload.replace(JUNIT, offload.began("unit").isoformat(), time)
        found = messages(offload.verdict(), Result.INCONCLUSIVE)
        assert f"times/1: unit: JUnit has no time with a zone, found '{time}' {JUNIT}:1" in found


def test_a_stage_that_was_not_run_has_no_times(offload: OffloadArchive) -> None:
    offload.remove_stage(STAGE, StageStatus.NOT_RUN, "not asked for")
    assert [one for one in messages(offload.verdict(), Result.FAIL) if one.startswith("times")] == []
