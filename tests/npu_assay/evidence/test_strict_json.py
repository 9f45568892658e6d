"""Documents of somebody else's making, read into a model: bounded in memory, and nothing is guessed."""

import tracemalloc

import pytest
from pydantic import RootModel

from npu_assay.errors import UsageError
from npu_assay.evidence.strict_json import MOST_BYTES, parse_strictly

Any = RootModel[object]


def deep(inner: str) -> str:
    return '{"a": ' * 20 + inner + "}" * 20


def test_a_key_that_stands_twice_is_refused_however_deep():
    assert parse_strictly(deep("1").encode(), "x.json", Any)
    with pytest.raises(UsageError, match=r"^x\.json: a key stands twice$"):
        parse_strictly(deep('{"b": 1, "b": 2}').encode(), "x.json", Any)


@pytest.mark.parametrize(
    "text",
    [
        "[" + "0," * (MOST_BYTES // 2 - 2) + "0]",
        "[" + ",".join(['{"a":0}'] * (MOST_BYTES // 8 - 1)) + "]",
    ],
    ids=["numbers", "objects"],
)
def test_many_values_take_little_memory(text):
    tracemalloc.start()
    try:
        assert parse_strictly(text.encode(), "x.json", Any)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 64 << 20
