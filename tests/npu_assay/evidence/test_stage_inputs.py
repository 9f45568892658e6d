"""stages/<stage>.inputs.json, read strictly."""

import json

import pytest

from npu_assay.errors import UsageError
from npu_assay.evidence.stage_inputs import read_stage_inputs

SHA = "a" * 64
MODEL = {"name": "tiny", "files": {"config.json": {"sha256": SHA, "size": 2}}}
DATASET = {"name": "prompts", "source": "made", "revision": "seed 0", "rows": 3, "sha256": SHA}
GOOD = {"schema_version": 1, "models": [MODEL], "datasets": [DATASET]}


def read(tmp_path, document):
    (tmp_path / "one.inputs.json").write_text(json.dumps(document))
    return read_stage_inputs(tmp_path / "one.inputs.json", "stages/one.inputs.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": [], "datasets": []}, "expected a model or a dataset"),
        ({"datasets": [DATASET, DATASET]}, "prompts stands twice"),
        ({"models": [MODEL | {"files": {}}]}, "models.0.files: Dictionary should have at least 1 item"),
        ({"datasets": [DATASET | {"rows": 0}]}, "datasets.0.rows: Input should be greater than 0"),
        ({"datasets": [DATASET | {"rows": "3"}]}, "datasets.0.rows: Input should be a valid integer"),
        ({"datasets": [DATASET | {"rows": 3.0}]}, "datasets.0.rows: Input should be a valid integer"),
        ({"datasets": [DATASET | {"sha256": "A" * 64}]}, "datasets.0.sha256: String should match pattern"),
        ({"datasets": [DATASET | {"revision": ""}]}, "datasets.0.revision: String should have at least 1"),
        ({"note": ""}, "note: Extra inputs are not permitted"),
    ],
)
def test_inputs(tmp_path, change, message):
    inputs = read(tmp_path, GOOD)
    assert (inputs.models[0].name, inputs.datasets[0].rows) == ("tiny", 3)
    with pytest.raises(UsageError, match=message) as error:
        read(tmp_path, GOOD | change)
    assert str(error.value).startswith("stages/one.inputs.json: ")
