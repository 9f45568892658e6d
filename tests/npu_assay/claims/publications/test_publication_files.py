"""What is wrong in the file of a publication is one line, with file and line."""

import json
import re
import tomllib
from decimal import Decimal
from pathlib import Path

import jsonschema
import pytest

from npu_assay import schemas
from npu_assay.claims.publications.files import load_publication, publication_names
from npu_assay.errors import UsageError
from npu_assay.project import CLAIMS

GOOD = """\
name = "small"
result = "X"
title = "a small one"

[environments.here]
where = "top"
components = { cann = "9.0.0" }

[shapes.tiny]
source = "its config.json"
layers = 4
hidden = 8
intermediate = 16
heads = 2
kv_heads = 1
head_size = 4
bytes_per_weight = 2

[entries.load]
where = "second line"

[entries.load.figures]
prompts = { value = 8, unit = "prompts" }

[entries.off]
where = "first row"
environment = "here"
under = ["load"]
switches = { offload-group-size = 0, offload-num-in-group = 1 }

[entries.off.figures]
speed = { value = 100.0, unit = "tokens/s" }

[entries.on]
where = "second row"
environment = "here"
under = ["load"]
shape = "tiny"
switches = { offload-group-size = 2, offload-num-in-group = 1 }

[entries.on.figures]
speed = { value = 90.0, unit = "tokens/s" }
change = { value = -10.00, unit = "%", derived = [
  { by = "change", of = "speed", against = "off", attributed_to = ["offload-group-size"] },
] }
layers = { value = [1, 3], unit = "layers", derived = [{ by = "layers" }] }
saved = { value = 1312, unit = "B", derived = [{ by = "weights", of = "layers" }] }
hash = { value = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", unit = "sha256" }
"""


def small(folder: Path, text: str) -> str:
    path = folder / "small.toml"
    path.write_text(text)
    return str(path)


def test_a_good_file_is_read(tmp_path: Path) -> None:
    publication = load_publication(small(tmp_path, GOOD))
    assert publication.entries["on"].figures["change"].value == Decimal("-10.00")
    assert str(publication.entries["on"].figures["change"].value) == "-10.00"
    assert publication.entries["on"].figures["layers"].value == (1, 3)
    assert publication.entries["off"].switches == {"offload-group-size": 0, "offload-num-in-group": 1}


def test_the_published_ones_are_found_by_name() -> None:
    assert publication_names() == ["dbo-and-kv-bytes", "kv-offload", "offload-groups"]
    assert [load_publication(name).result for name in publication_names()] == ["B", "A", "C"]
    with pytest.raises(UsageError, match=f"no publication 'x'; there is dbo-.*, offload-groups in {CLAIMS}"):
        load_publication("x")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param(
            'result = "X"\n', 'result = "X"\nauthor = "me"\n', ":3: author: Extra inputs", id="unknown key"
        ),
        pytest.param(
            'unit = "prompts"', 'unit = "prompts", digits = 1', r":23: .*digits: Extra", id="in a figure"
        ),
        pytest.param(
            'against = "off"',
            'against = "of"',
            ":43: .*derived by change: no entry 'of'; there are load, off, on",
            id="no such entry",
        ),
        pytest.param(
            'of = "speed"',
            'of = "sped"',
            ":43: .*no figure 'sped' in entry on; it has speed, change",
            id="no such figure",
        ),
        pytest.param(
            'under = ["load"]\nshape',
            'under = ["lod"]\nshape',
            ":37: entries.on.under: no 'lod'; there are load, off, on",
            id="no such workload",
        ),
        pytest.param(
            'environment = "here"\nunder = ["load"]\nshape',
            'environment = "there"\nunder = ["load"]\nshape',
            ":36: entries.on.environment: no 'there'; there are here",
            id="no such environment",
        ),
        pytest.param(
            'by = "layers" }',
            'by = "same", of = "layers" }',
            ":46: .*derived by same: on.layers would follow from itself",
            id="from itself",
        ),
        pytest.param(
            'shape = "tiny"', 'shape = "huge"', ":38: entries.on.shape: no 'huge'", id="no such shape"
        ),
        pytest.param(
            'shape = "tiny"\n', "", ":45: .*layers: derived by layers: entry on has no shape", id="no shape"
        ),
        pytest.param(
            "[entries.off.figures]",
            "[entries.load.figures]",
            r":31: not TOML: Cannot declare .* twice",
            id="an entry twice",
        ),
        pytest.param(
            "hash = {", "speed = {", r":48: not TOML: Cannot overwrite a value", id="a figure twice"
        ),
        pytest.param(
            '[{ by = "layers" }]',
            '[{ by = "layers" }, { by = "layers" }]',
            ":46: .*derived by layers from the same twice",
            id="a way twice",
        ),
        pytest.param(
            'by = "layers"',
            'by = "guess"',
            ":46: .*'guess' .* does not match .* 'change', 'difference'",
            id="no such way",
        ),
        pytest.param(
            'unit = "tokens/s"', 'unit = "token/s"', ":32: .*unit: Input should be", id="no such unit"
        ),
        pytest.param(
            "value = 100.0",
            'value = "100.0"',
            ":32: .*a figure in tokens/s is a number, found '100.0'",
            id="a number as text",
        ),
        pytest.param("value = 100.0", "value = nan", ":32: .*expected a finite number, found NaN", id="nan"),
        pytest.param("value = 100.0", "value = 1e2", ":32: .*with all its digits", id="an exponent"),
        pytest.param(
            "value = 100.0", "value = 1e-99999", ":32: .*with all its digits, 18 at most", id="a tiny number"
        ),
        pytest.param(
            "value = [1, 3]", "value = [1, 3.0]", ":46: .*expected a list of layers", id="half a layer"
        ),
        pytest.param(
            'value = [1, 3], unit = "layers", derived = [{ by = "layers" }]',
            'value = "1, 3"',
            ":47: .*layers is no list of layers: '1, 3'",
            id="layers as text",
        ),
        pytest.param(
            '89abcdef0123456789abcdef0123456789abcdef"',
            '"',
            ":48: .*expected a sha256 in hexadecimal",
            id="a short hash",
        ),
        pytest.param(
            "offload-num-in-group = 1 }\n\n[entries.on",
            "offload-num-in-group = 3 }\n\n[entries.on",
            r":46: .*as vLLM takes them, found \[2, 3\]",
            id="more than the group",
        ),
        pytest.param(
            'environment = "here"\nunder = ["load"]\nswitches',
            'under = ["load"]\nswitches',
            ":25: entries.off: .*it needs environment",
            id="measured nowhere",
        ),
        pytest.param(
            'of = "speed", against',
            'known = "agrees", of = "speed", against',
            ":43: .*known: Input should be",
            id="known to agree",
        ),
        pytest.param(
            'name = "small"',
            'name = "large"',
            ":1: name is 'large', expected the file's own, 'small'",
            id="another name",
        ),
        pytest.param('title = "a small one"', "title = ", ":3: not TOML: Invalid value", id="no TOML"),
    ],
)
def test_a_fault_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    load_publication(small(tmp_path, GOOD))
    assert old in GOOD
    with pytest.raises(UsageError) as raised:
        load_publication(small(tmp_path, GOOD.replace(old, new, 1)))
    said = str(raised.value)
    assert re.search("small.toml" + message, said), said
    assert "\n" not in said


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml: can't be read: No such file"):
        load_publication(str(tmp_path / "none.toml"))


def test_the_published_schema_takes_the_files_and_no_unknown_key() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schemas.schema_file("publication").read_text()))
    for path in CLAIMS.glob("*.toml"):
        content = tomllib.loads(path.read_text())
        validator.validate(content)
        with pytest.raises(jsonschema.ValidationError, match="'author' was unexpected"):
            validator.validate(content | {"author": "me"})
