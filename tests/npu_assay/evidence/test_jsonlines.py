import pytest

from npu_assay.errors import UsageError
from npu_assay.evidence.jsonlines import Row, read_rows


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b'{"a": ', "expected one JSON object"),
        (b"", "expected one JSON object"),
        (b"[1]", "expected a JSON object"),
        (b'{"a": NaN}', "NaN is no JSON number"),
        (b'{"a": -Infinity}', "-Infinity is no JSON number"),
        (b'{"a": 1, "a": 2}', "a key stands twice"),
        (b'{"a": 1} {"b": 2}', "Extra data"),
        (b"\xff", "expected one JSON object"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(tmp_path, bad, message):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": null}\n')
    assert read_rows(path) == [Row(1, {"a": 1}), Row(2, {"a": None})]
    path.write_bytes(b'{"a": 1}\n' + bad + b'\n{"a": 2}\n')
    with pytest.raises(UsageError, match=message) as error:
        read_rows(path)
    assert str(error.value).startswith(f"{path}:2: ")
