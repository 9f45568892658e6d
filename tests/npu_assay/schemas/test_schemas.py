"""The published schemas are those of the models, and what the commands print is valid by them."""

import json

import jsonschema
import pytest
from click.testing import CliRunner

from npu_assay import schemas
from npu_assay.commands.device import device

TABLE = """\
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 2     Ascend910           | OK            | -           36                0    / 0             |
| 1     5                   | 0000:9F:00.0  | 0           0    / 0          3120 / 65536         |
+===========================+===============+====================================================+
"""


def test_no_schema_is_stale(tmp_path, monkeypatch):
    assert schemas.stale() == []
    monkeypatch.setattr(schemas, "FOLDER", tmp_path)
    assert schemas.stale() == list(schemas.MODELS)
    for name in schemas.MODELS:
        schemas.schema_file(name).write_text(schemas.render(name))
    assert schemas.stale() == []
    (tmp_path / "device-list.schema.json").write_text("{}")
    (tmp_path / "unknown.schema.json").write_text("{}")
    assert schemas.stale() == ["device-list", "unknown.schema.json"]


@pytest.mark.parametrize("name", schemas.MODELS)
def test_a_schema_is_one(name):
    schema = json.loads(schemas.schema_file(name).read_text())
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("command", ["list", "map", "health"])
def test_what_device_prints_is_valid_and_nothing_else_is(command, tmp_path):
    (tmp_path / "info.txt").write_text(TABLE)
    printed = json.loads(CliRunner().invoke(device, [command, "--from", str(tmp_path), "--json"]).output)
    schema = json.loads(schemas.schema_file(f"device-{command}").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(printed)
    (die,) = printed["devices"]
    assert (die["npu_id"], die["chip_id"], die["logical_id"], die["physical_id"]) == (2, 1, None, 5)
    assert (die["name"], die["health"], die["temperature"]) == ("Ascend910", "OK", 36)
    assert die["hbm"] == {"used_mib": 3120, "total_mib": 65536}
    del die["health"]
    with pytest.raises(jsonschema.ValidationError, match="'health' is a required property"):
        validator.validate(printed)
    die |= {"health": "OK", "extra": 1}
    with pytest.raises(jsonschema.ValidationError, match="'extra' was unexpected"):
        validator.validate(printed)
