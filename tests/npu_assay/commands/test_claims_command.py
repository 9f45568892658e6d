"""`npu-assay claims`: what is printed, and the exit codes."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from npu_assay import schemas
from npu_assay.commands.claims import claims
from npu_assay.errors import AssayError, InconclusiveError, UsageError
from npu_assay.project import CLAIMS, ROOT


def run(*words: str) -> Result:
    return CliRunner().invoke(claims, words)


def copied(folder: Path, name: str, old: str, new: str) -> str:
    """The file of a publication with something changed in it."""
    text = (CLAIMS / f"{name}.toml").read_text()
    assert text.count(old) == 1
    path = folder / f"{name}.toml"
    path.write_text(text.replace(old, new))
    return str(path)


def test_all_publications_are_checked() -> None:
    ended = run("check")
    assert ended.exit_code == 0
    lines = ended.output.splitlines()
    assert [line[0] for line in lines if line[1:3] == "  "] == ["A", "B", "C"]
    assert lines[1].split() == ["claim", "published", "recomputed", "verdict", "note"]
    (gain,) = (line for line in lines if "best.change" in line)
    assert "+22.6 %" in gain
    assert "attributed wrongly  known; put down to enable-dbo, but" in gain
    assert lines[-1] == "92 figures, 45 of them as measured; claims: 44 agrees, 6 cannot be recomputed"


def test_the_table_in_the_document_is_what_is_printed() -> None:
    shown = re.findall(
        r"^```\n(claim .*?)^```", (ROOT / "docs" / "claims.md").read_text(), re.MULTILINE | re.DOTALL
    )
    (lines,) = (block.splitlines() for block in shown)
    printed = [line.split() for line in run("check", "offload-groups").output.splitlines()]
    assert len(lines) > 4
    assert [line for line in lines if line.split() not in printed] == []


def test_one_publication_is_checked_once() -> None:
    one = run("check", "kv-offload")
    assert one.output == run("check", "kv-offload", "kv-offload").output
    assert [line for line in one.output.splitlines() if line.startswith("B")] == []


def test_a_contradiction_is_exit_1(tmp_path: Path) -> None:
    ended = run("check", copied(tmp_path, "offload-groups", "value = -48.37", "value = -48.36"))
    assert "-48.36 %" in ended.output
    assert isinstance(ended.exception, AssayError)
    assert ended.exception.exit_code == 1
    assert str(ended.exception) == (
        "1 contradicted, first: group-8-num-2.change, published -48.36 %, differs"
    )


def test_a_refused_comparison_is_exit_3(tmp_path: Path) -> None:
    old = 'first row: baseline_0_1"\nenvironment = "cann851"'
    ended = run("check", copied(tmp_path, "offload-groups", old, old.replace("851", "900")))
    assert isinstance(ended.exception, InconclusiveError)
    assert "cann 8.5.1 and 9.0.0" in ended.output
    assert str(ended.exception).startswith("4 refused, first: group-8-num-1.kv-cache, published 27.53 GiB")


def test_bad_input_is_exit_2(tmp_path: Path) -> None:
    ended = run("check", copied(tmp_path, "offload-groups", 'result = "C"', 'result = "C"\nauthor = "me"'))
    assert isinstance(ended.exception, UsageError)
    assert "offload-groups.toml:7: author: " in str(ended.exception)
    assert ended.output == ""


def test_figures_are_listed_with_their_places() -> None:
    names = run("list").output.splitlines()
    assert [line.split()[:3] for line in names] == [
        ["A", "kv-offload", "53"],
        ["B", "dbo-and-kv-bytes", "41"],
        ["C", "offload-groups", "92"],
    ]
    (line,) = (one for one in run("list", "offload-groups").output.splitlines() if "num-1.weights" in one)
    assert line.split("  ")[0] == "group-8-num-1.weights-saved"
    assert "0.2615 GiB (printed GB)" in line
    assert line.endswith("  Formal performance result, second row: group_8_num_1")


@pytest.mark.parametrize("command", ["check", "list"])
def test_what_is_printed_as_json_is_valid_and_nothing_else_is(command: str) -> None:
    printed = json.loads(run(command, "--json").output)
    schema = json.loads(schemas.schema_file(f"claims-{command}").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(printed)
    assert [one["result"] for one in printed["publications"]] == ["A", "B", "C"]
    del printed["publications"][0]["name"]
    with pytest.raises(jsonschema.ValidationError, match="'name' is a required property"):
        validator.validate(printed)
