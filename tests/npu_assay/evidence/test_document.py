"""A JSON document of somebody else's making: an object, or a clear error."""

import re

import pytest

from npu_assay.errors import UsageError
from npu_assay.evidence.document import read_document

GOOD = b'{"a": {"b": [1, 2.5, null, true, "\xc3\xa9"]}}\n'


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "expected one JSON object"),
        (b'{"a": 1', "expected one JSON object"),
        (GOOD + GOOD, "expected one JSON object, Extra data"),
        (b"[1]", "expected a JSON object, found b'[1]'"),
        (b'{"a": {"b": 1, "b": 2}}', "a key stands twice"),
        (b'{"a": NaN}', "NaN is no JSON number"),
        (b'{"a": ' * 100_000, "maximum recursion depth exceeded"),
        (b'{"a": ' + b"1" * 5000 + b"}", "integer string"),
        (b'{"a": "\xff"}', "invalid start byte"),
        (GOOD.decode().encode("utf-16"), "expected one JSON object"),
        (b"\xef\xbb\xbf" + GOOD, "BOM"),
        (GOOD + b" " * 1000, "expected at most 999 bytes, found 1041"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_anything_but_one_object_of_bounded_size_is_an_error_that_names_the_file(tmp_path, data, problem):
    path = tmp_path / "facts.json"
    path.write_bytes(GOOD)
    assert read_document(path, "facts.json", 999) == {"a": {"b": [1, 2.5, None, True, "é"]}}
    path.write_bytes(data)
    with pytest.raises(UsageError, match=rf"^facts\.json: .*{re.escape(problem)}"):
        read_document(path, "facts.json", 999 if len(data) < 2000 else 1 << 20)


def test_a_document_that_is_not_there_or_a_folder_is_an_error(tmp_path):
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(UsageError, match=r"^facts\.json: can't be read \("):
            read_document(path, "facts.json")
