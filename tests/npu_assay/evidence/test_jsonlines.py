import pytest

from npu_assay.errors import UsageError
from npu_assay.evidence.jsonlines import Row, read_rows, rows_of


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
        ('{"a": 1}'.encode("utf-16-be"), "expected one JSON object"),
        (b"[" * 100_000, "expected one JSON object, maximum recursion depth"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(tmp_path, bad, message):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": null}\n')
    assert list(read_rows(path)) == [Row(1, {"a": 1}), Row(2, {"a": None})]
    path.write_bytes(b'{"a": 1}\n' + bad + b'\n{"a": 2}\n')
    with pytest.raises(UsageError, match=message) as error:
        list(read_rows(path))
    assert str(error.value).startswith(f"{path}:2: ")


def test_rows_come_out_of_chunks_as_out_of_a_file(tmp_path):
    data = b'{"a": 1}\n{"a": "\xc3\xa9"}\r\n{"a": 3}'
    (tmp_path / "rows.jsonl").write_bytes(data)
    whole = list(read_rows(tmp_path / "rows.jsonl"))
    for size in (1, 2, 7, 100):
        chunks = [data[at : at + size] for at in range(0, len(data), size)]
        assert list(rows_of(chunks, "rows.jsonl")) == whole
    with pytest.raises(UsageError, match=r"^rows\.jsonl:2: expected one JSON object"):
        list(rows_of([data.replace(b'"\xc3', b"\xc3")], "rows.jsonl"))


def test_a_row_without_an_end_is_refused_before_it_is_in_memory():
    taken = []

    def endless():
        yield b'{"a": 1}\n{"a": "'
        for _ in range(1000):
            taken.append(1)
            yield b"x" * 100

    rows = rows_of(endless(), "rows.jsonl", most=1000)
    assert next(rows).values == {"a": 1}
    with pytest.raises(UsageError, match=r"^rows\.jsonl:2: expected a JSON object of at most 1000 bytes"):
        next(rows)
    assert len(taken) <= 11
