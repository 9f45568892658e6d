"""An engine's process as the driver sees it: started, asked, ended."""

import json
import select
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rates import Tokens, Workload

from npu_assay.errors import UnusableError
from npu_assay.logged import last_line

PROGRAM = Path(__file__).with_name("engine_worker.py")

#: Seconds for a start or an answer, which take a few; past them something hangs.
LIMIT = 600


@dataclass(frozen=True)
class Ready:
    """What an engine says of itself when it has started."""

    #: Threads that PyTorch uses for CPU kernels.
    threads: int


@dataclass(frozen=True)
class Answer:
    """All requests answered: how long that took, and the tokens, a list a request."""

    seconds: float
    token_ids: list[Tokens]


class Engine:
    """A running engine. Between two questions it is blocked, reading its standard input."""

    def __init__(self, name: str, command: list[str], variables: Mapping[str, str], log: Path) -> None:
        """Start it; everything that it prints goes to `log`. `ready` waits until it has started."""
        self.name = name
        self._log = log
        with log.open("wb") as printed:
            self._process = subprocess.Popen(
                command, env={**variables}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=printed
            )

    def ready(self) -> Ready:
        """Wait until it has started; to be called once, before the first question."""
        return Ready(**self._read())

    def ask(self, prompts: list[Tokens], max_tokens: int) -> Answer:
        """Have all prompts answered with exactly `max_tokens` tokens each."""
        assert self._process.stdin is not None
        line = json.dumps({"prompts": prompts, "max_tokens": max_tokens}) + "\n"
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failure("ended") from None
        return Answer(**self._read())

    def end(self) -> None:
        """End the process; it may have ended."""
        self._process.kill()
        self._process.communicate()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], LIMIT)[0]:
            raise self._failure(f"said nothing for {LIMIT} s")
        line = self._process.stdout.readline()
        if not line:
            raise self._failure("ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _failure(self, what: str) -> UnusableError:
        said = last_line(self._log.read_text(errors="replace"))
        return UnusableError(f"the {self.name} engine {what}: {said}; the full log is {self._log}")


def engine_command(python: Path, model: Path, workload: Workload, threads: int) -> list[str]:
    """The command of engine_worker.py for this workload."""
    return [
        *(str(python), str(PROGRAM), str(model)),
        *("--requests", str(workload.requests)),
        *("--tokens", str(workload.prompt_tokens + workload.new_tokens)),
        *("--threads", str(threads)),
    ]
