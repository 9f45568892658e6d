"""An engine's process, seen from outside, with a small program in the place of the engine."""

import sys
from pathlib import Path

import pytest
from worker_process import Answer, Engine, Ready

from npu_assay.errors import UnusableError

#: Answers as engine_worker.py does; a request for 0 tokens ends it.
PROGRAM = """
import json, sys
print("loading", file=sys.stderr)
print(json.dumps({"threads": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["max_tokens"] == 0:
        sys.exit("out of device memory")
    tokens = [prompt[:1] * request["max_tokens"] for prompt in request["prompts"]]
    print(json.dumps({"seconds": 0.5, "token_ids": tokens}), flush=True)
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine("small", [sys.executable, "-c", PROGRAM], {}, tmp_path / "log")


def test_it_says_that_it_is_ready_and_answers_in_turn(engine: Engine, tmp_path: Path) -> None:
    assert engine.ready() == Ready(threads=1)
    assert engine.ask([[7, 8], [9]], max_tokens=2) == Answer(seconds=0.5, token_ids=[[7, 7], [9, 9]])
    assert engine.ask([[1]], max_tokens=1) == Answer(seconds=0.5, token_ids=[[1]])
    engine.end()
    assert (tmp_path / "log").read_text() == "loading\n", "what it prints is in the log, not in the answers"
    engine.end()  # has ended already


def test_one_that_dies_is_told_with_its_last_line_and_its_log(engine: Engine, tmp_path: Path) -> None:
    engine.ready()
    expected = f"the small engine ended: out of device memory; the full log is {tmp_path / 'log'}"
    with pytest.raises(UnusableError, match=expected):
        engine.ask([[1]], max_tokens=0)
    engine.end()
