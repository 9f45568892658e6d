"""A run that is killed, wherever it is, leaves nothing that could pass for an archive."""

import os
import signal

import pytest
from processes import in_a_process

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.errors import UsageError
from npu_assay.evidence.archive import check, create_archive
from npu_assay.pipeline import runner
from npu_assay.report.derived import derive, judge


def kill(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


#: What the runner calls, in this order; None: it comes to its end, and what is derived is not written.
POINTS = (
    "run_to_log",
    "judge_stage",
    "host_record",
    "render_run_junit",
    "write_manifest",
    "archives.seal",
    None,
)


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_run_does_not_verify(running, tmp_path, monkeypatch, point):
    plan = running.plan({"name": "one"})
    running.run(plan)
    derive(running.archive.root)
    assert judge(running.archive.root, Mode.EMULATED).result is Result.INCONCLUSIVE  # of a pipeline of a test

    archive = create_archive(tmp_path / "killed")

    def work() -> None:
        if point is not None:
            owner, _, name = f"runner.{point}".rpartition(".")
            monkeypatch.setattr(runner.archives if owner.endswith("archives") else runner, name, kill)
        running.run(plan, archive=archive)

    assert in_a_process(work) == (0 if point is None else -signal.SIGKILL)
    if archive.manifest.exists():
        assert judge(archive.root, Mode.EMULATED).result is Result.FAIL
    else:
        with pytest.raises(UsageError, match=r"no manifest\.json and no SHA256SUMS"):
            judge(archive.root, Mode.EMULATED)
    if point is None:
        assert check(archive) == []
        derive(archive.root)
        assert judge(archive.root, Mode.EMULATED).result is Result.INCONCLUSIVE
