"""The axis of stages: where a bar is, what a mark says, and times that can't be."""

from datetime import timedelta

import pytest
from offload_archive import STAGES

from npu_assay.evidence.manifest import Manifest
from npu_assay.report.timeline import Timeline, timeline


def planted(manifest: Manifest, length: float, **spans: tuple[float, float]) -> Timeline:
    """Of a run of that many seconds, with stages that begin and take so many."""
    stages = tuple(
        stage.model_copy(
            update={
                "started": manifest.started + timedelta(seconds=spans[stage.name][0]),
                "seconds": spans[stage.name][1],
            }
            if stage.name in spans
            else {"started": None, "seconds": None}
        )
        for stage in manifest.stages
    )
    finished = manifest.started + timedelta(seconds=length)
    return timeline(manifest.model_copy(update={"stages": stages, "finished": finished}))


def test_bars_are_where_the_stages_were(offload):
    axis = planted(offload.manifest, 200, cann=(0, 50), ruff=(50, 100), unit=(150, 50))
    assert {name: (bar.start, bar.width) for name, bar in axis.bars.items()} == {
        "cann": (0, 25),
        "ruff": (25, 50),
        "unit": (75, 25),
    }
    assert axis.bars["ruff"].words == "begins 50.0 s after the run, takes 1 min 40 s"
    assert axis.bars["ruff"].in_characters(8) == "··████··"


@pytest.mark.parametrize(
    ("length", "labels"),
    [
        (4, ["0", "1 s", "2 s", "3 s"]),
        (100, ["0", "30 s", "60 s", "90 s"]),
        (193, ["0", "1 min", "2 min", "3 min"]),
        (9000, ["0", "30 min", "60 min", "90 min", "120 min"]),
        (36000, ["0", "2 h", "4 h", "6 h", "8 h"]),
    ],
)
def test_the_marks_are_few_and_round(offload, length, labels):
    axis = planted(offload.manifest, length, cann=(0, 1))
    assert [mark.label for mark in axis.marks] == labels


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((10, 10), (10, 10)),
        ((-50, 10), (0, 10)),
        ((99.9, 0.001), (99.4, 0.6)),
        ((10, -5), (10, 0.6)),
        ((100, 100), (50, 50)),
    ],
)
def test_no_bar_leaves_the_axis_or_is_too_thin_to_see(offload, span, expected):
    bar = planted(offload.manifest, 100, unit=span).bars["unit"]
    assert (bar.start, bar.width) == expected


@pytest.mark.parametrize("seconds", [float("nan"), float("inf")])
def test_a_time_that_is_none_has_no_bar(offload, seconds):
    assert list(planted(offload.manifest, 10, unit=(0, 1)).bars) == ["unit"]
    assert planted(offload.manifest, 10, unit=(0, seconds)).bars == {}


def test_a_run_without_times_has_no_axis(offload):
    assert planted(offload.manifest, 10).marks
    assert planted(offload.manifest, 0) == Timeline((), {})
    assert len(offload.manifest.stages) == len(STAGES)
