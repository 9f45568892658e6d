"""What a suite reads from the runner, and what it says when that is wrong."""

import hashlib
import json
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict
from support.stage import Stage, StageError


class Knobs(BaseModel):
    """Settings of a made-up suite."""

    model_config = ConfigDict(extra="forbid")
    model: Path | None = None
    rounds: int = 3


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return {
        "NPU_ASSAY_STAGE": "made-up",
        "NPU_ASSAY_ARCHIVE": str(tmp_path),
        "NPU_ASSAY_RESULTS": str(tmp_path / "results"),
        "NPU_ASSAY_SETTINGS": str(tmp_path / "settings.json"),
        "NPU_ASSAY_DEVICE_KIND": "emulated",
    }


def test_the_variables_are_read(variables: dict[str, str], tmp_path: Path) -> None:
    stage = Stage.from_variables(variables)
    assert (stage.archive, stage.results, stage.emulated) == (tmp_path, tmp_path / "results", True)
    assert not Stage.from_variables(variables | {"NPU_ASSAY_DEVICE_KIND": "hardware"}).emulated


@pytest.mark.parametrize(
    "missing",
    [f"NPU_ASSAY_{name}" for name in ("STAGE", "ARCHIVE", "RESULTS", "SETTINGS", "DEVICE_KIND")],
)
def test_a_missing_variable_is_named(variables: dict[str, str], missing: str) -> None:
    del variables[missing]
    with pytest.raises(StageError, match=f"^{missing} is not set; run the suite as a stage"):
        Stage.from_variables(variables)


def test_an_unknown_kind_of_device_is_refused(variables: dict[str, str]) -> None:
    with pytest.raises(StageError, match="NPU_ASSAY_DEVICE_KIND=simulated: expected emulated or hardware"):
        Stage.from_variables(variables | {"NPU_ASSAY_DEVICE_KIND": "simulated"})


def test_settings_are_read(variables: dict[str, str]) -> None:
    stage = Stage.from_variables(variables)
    stage.settings_file.write_text('{"model": null, "rounds": "5"}')
    assert stage.settings(Knobs) == Knobs(rounds=5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"round": 5}', "round: .*; settings are model, rounds"),
        ('{"rounds": "many"}', "rounds: .* integer"),
        ("[]", "the file: .*"),
        ("{", "the file: .*"),
        (None, "No such file"),
    ],
)
def test_settings_that_can_not_be_used_are_one_line(
    variables: dict[str, str], text: str | None, message: str
) -> None:
    stage = Stage.from_variables(variables)
    if text is not None:
        stage.settings_file.write_text(text)
    with pytest.raises(StageError, match=rf"settings\.json: {message}|settings\.json; {message}") as error:
        stage.settings(Knobs)
    assert len(str(error.value).splitlines()) == 1


def test_rows_are_appended_one_a_line(variables: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    stage = Stage.from_variables(variables)
    for row in ({"run": 1}, {"run": 2, "text": "two\nlines"}):
        stage.append_row("rounds", row)
    lines = (stage.results / "rounds.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"run": 1, "device_kind": "emulated"},
        {"run": 2, "text": "two\nlines", "device_kind": "emulated"},
    ]
    hashes = [hashlib.sha256(line.encode()).hexdigest() for line in lines]
    said = [f"row: results/rounds.jsonl sha256 {sha256}" for sha256 in hashes]
    assert capsys.readouterr().out.split("\n") == ["", said[0], "", said[1], ""]
    Stage.from_variables(variables | {"NPU_ASSAY_DEVICE_KIND": "hardware"}).append_row("others", {"run": 1})
    assert json.loads((stage.results / "others.jsonl").read_text())["device_kind"] == "hardware"
