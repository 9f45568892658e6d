import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_assay.evidence.json_places import JsonPlaces, first_repeated

TEXT = """\
{
  "name": "a \\"quoted\\" {word}",
  "versions": { "torch": "2.9.0", "vllm":
    "0.18.0" },
  "empty": {}, "none": [],
  "stages": [
    {
      "name": "cann",
      "command": [
        "python",
        "-I"
      ]
    },
    { "name": "unit", "left": [[1, 2],
      [3]] }
  ],
  "last": null
}
"""


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("name",), 2),
        (("versions",), 3),
        (("versions", "vllm"), 3),
        (("empty",), 5),
        (("none",), 5),
        (("stages",), 6),
        (("stages", 0), 7),
        (("stages", 0, "name"), 8),
        (("stages", 0, "command", 1), 11),
        (("stages", 1, "name"), 14),
        (("stages", 1, "left", 0, 1), 14),
        (("stages", 1, "left", 1, 0), 15),
        (("last",), 17),
        (("versions", "numpy"), 3),
        (("stages", 9, "name"), 6),
        (("nothing",), None),
        ((), None),
    ],
)
def test_a_key_is_found_by_its_line_or_by_that_of_what_holds_it(keys, line):
    assert JsonPlaces.of(TEXT).line_of(*keys) == line


@pytest.mark.parametrize("text", ["", "nothing", "]}", "[" * 100_000, '{"a": "', '{"a" "b" 1}', "\x00{"])
def test_what_is_no_json_is_no_error(text):
    assert JsonPlaces.of("[1]").line_of(0) == 1
    JsonPlaces.of(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES)
def test_every_key_of_any_document_stands_on_the_line_that_is_said(value):
    text = json.dumps(value, indent=1)
    lines = text.split("\n")
    for path, line in JsonPlaces.of(text).lines.items():
        found = value
        for key in path:
            found = found[key]
        if isinstance(path[-1], str):
            assert lines[line - 1].strip().startswith(json.dumps(path[-1]) + ":")
    # Every key and element is there.
    assert len(JsonPlaces.of(text).lines) == _count(value)


def _count(value) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(1 + _count(one) for one in inner)


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        ('{"a": {"b": 1}, "c": {"b": 2}}', None),
        ('[{"a": 1}, {"a": 1}, [{"a": 1}]]', None),
        ('{"a": {"b": 1,\n"b": 2}}', ("a.b", 2)),
        ('{"a": [{"b": 1}, {"b": 1,\n"c": [{"b": 1}],\n"b": 2}]}', ("a.1.b", 3)),
        ('{"a": 1, "b": {"a": 1},\n"a": 2}', ("a", 2)),
        (r'{"a": 1, "\u0061": 2}', ("a", 1)),
    ],
)
def test_of_a_key_that_stands_twice_in_one_object_the_second_is_found(text, repeated):
    found = first_repeated(text)
    assert (found and (str(found), found.line)) == repeated
