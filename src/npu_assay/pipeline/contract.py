"""What a stage promised to leave behind, compared with what it left. An empty result is an error."""

import signal
from collections.abc import Sequence
from pathlib import Path

from npu_assay.errors import AssayError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.jsonlines import read_rows
from npu_assay.evidence.manifest import StageStatus
from npu_assay.evidence.pytest_junit import Outcome, TestCase, read_pytest_junit
from npu_assay.evidence.stage_inputs import StageInputs, read_stage_inputs
from npu_assay.pipeline.definition import Stage
from npu_assay.pipeline.process import End, Ended
from npu_assay.wording import some

_INCONCLUSIVE_EXIT = 3
_NAMES_SHOWN = 5

Judgement = tuple[StageStatus, str]
"""A status and, unless it is a pass, its reason in one line."""


def judge_stage(stage: Stage, ended: Ended, archive: Archive) -> Judgement:
    """The status of a stage that was started."""
    match ended.end:
        case End.NOT_STARTED:
            return StageStatus.FAIL, f"the command can't be started: {ended.detail}"
        case End.TIMEOUT:
            return StageStatus.FAIL, f"did not end within its time limit of {stage.timeout:g} s"
        case End.LOG_LIMIT:
            return StageStatus.FAIL, (
                f"printed more than {stage.log_limit} bytes; the log holds the first {stage.log_limit}"
            )
        case End.WORK_LIMIT:
            return StageStatus.FAIL, (
                f"the run's scratch files, and its logs and caches of CANN, Triton and vLLM, took more than"
                f" {stage.work_limit} bytes"
            )
        case End.LOG_UNWRITABLE:
            return StageStatus.FAIL, f"its log can't be written: {ended.detail}"
        case End.INTERRUPTED:
            return StageStatus.INTERRUPTED, "the run was interrupted"
        case End.EXITED:
            return _judge_exit(stage, ended.exit_code, archive)


def inputs_of(stage: Stage, archive: Archive) -> StageInputs | None:
    """What the stage says that it read, or None. Raises UsageError for a file that can't be used."""
    path = archive.stage_inputs(stage.name)
    return read_stage_inputs(path, f"stages/{path.name}") if path.exists() else None


def _judge_exit(stage: Stage, exit_code: int | None, archive: Archive) -> Judgement:
    if exit_code not in (0, _INCONCLUSIVE_EXIT):
        return StageStatus.FAIL, _why_not_zero(stage, exit_code, archive)
    try:
        inputs_of(stage, archive)
    except AssayError as error:
        return StageStatus.FAIL, str(error)
    if exit_code == _INCONCLUSIVE_EXIT:
        return StageStatus.INCONCLUSIVE, f"exit code {exit_code}; stages/{stage.name}.log says why"
    if stage.empty_log and (size := archive.stage_log(stage.name).stat().st_size):
        return StageStatus.FAIL, f"printed {size} bytes; its success prints nothing"
    try:
        for name in stage.leaves:
            _check_left(archive.root / name)
        if stage.junit:
            return _judge_tests(read_pytest_junit(archive.stage_junit(stage.name)).tests)
    except AssayError as error:
        return StageStatus.FAIL, str(error)
    return StageStatus.PASS, ""


def _check_left(path: Path) -> None:
    if not path.is_file():
        raise AssayError(f"{path}: the stage did not leave this file, which its contract names")
    if path.stat().st_size == 0:
        raise AssayError(f"{path}: left empty by the stage")
    if path.suffix == ".jsonl":
        for _ in read_rows(path):  # raises for an invalid row; a file that is not empty has at least one
            pass


def _judge_tests(cases: Sequence[TestCase]) -> Judgement:
    if not cases:
        return StageStatus.FAIL, "no test was run"
    if red := [case.name for case in cases if case.outcome in (Outcome.FAILED, Outcome.ERROR)]:
        return StageStatus.FAIL, f"{len(red)} failed: {some(red, _NAMES_SHOWN)}"
    if missed := [case.name for case in cases if case.outcome is not Outcome.PASSED]:
        return (
            StageStatus.INCONCLUSIVE,
            f"{len(missed)} skipped or expected to fail: {some(missed, _NAMES_SHOWN)}",
        )
    return StageStatus.PASS, ""


def _why_not_zero(stage: Stage, exit_code: int | None, archive: Archive) -> str:
    ending = f"exit code {exit_code}"
    if exit_code is not None and exit_code < 0:
        ending = f"ended by {signal.Signals(-exit_code).name}"
    if not stage.junit:
        return ending
    try:
        status, reason = _judge_tests(read_pytest_junit(archive.stage_junit(stage.name)).tests)
    except AssayError as error:
        return f"{ending}; {error}"
    return ending if status is StageStatus.PASS else f"{ending}; {reason}"
