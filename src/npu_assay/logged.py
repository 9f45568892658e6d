"""Running a tool whose output goes to a log, with one line about it when it fails."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from npu_assay.cache import held_locks
from npu_assay.errors import UnusableError

#: What pip begins the line with that says which part of a build did not run.
_PIPS_CROSS = "\N{MULTIPLICATION SIGN}"


def last_line(output: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "it said nothing")


def first_error(output: str) -> str:
    """The first line that a compiler, linker or CMake marks as an error, else the last line."""
    marks = (": error:", ": fatal error:", "CMake Error", "undefined reference", "error: ")
    return next(
        (line.strip() for line in output.splitlines() if any(m in line for m in marks)), last_line(output)
    )


#: How pip tells that it did not get through, before it goes on as if the index had nothing.
_BROKEN = re.compile(r"after connection broken by '(?P<why>.*)': \S+$", re.MULTILINE)


def pip_error(output: str) -> str:
    """pip's own first error, or what of a build it says did not run, else the last line.

    Where it could not reach its index, that: pip itself ends with "no matching distribution" then.
    """
    if "No matching distribution found" in output and (broken := _BROKEN.search(output)):
        why = re.sub(r"<[^<>]*>: ", "", broken["why"])
        return f"pip can't reach its index: {why}; see index-url, proxy and cert in: pip config list"
    lines = (line.strip() for line in output.splitlines())
    if "ERROR: Exception:" in output:  # a traceback follows, whose last line says which
        return last_line(output)
    marks = ("ERROR:", _PIPS_CROSS)
    found = next((line for line in lines if line.startswith(marks)), last_line(output))
    return found.removeprefix("ERROR:").removeprefix(_PIPS_CROSS).strip()


def run_logged(
    command: Sequence[str],
    log: Path,
    *,
    doing: str,
    variables: Mapping[str, str],
    telling: Callable[[str], str] = last_line,
) -> None:
    """Run `command`, appending what it prints to `log`.

    Raises UnusableError with `doing`, the line that `telling` picks from the output, and where the log is.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as out:
        out.write(f"$ {' '.join(command)}\n".encode())
        out.flush()
        start = out.tell()
        try:
            tool = subprocess.Popen(
                command,
                env={**variables},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                process_group=0,
                pass_fds=held_locks(),
            )
        except OSError as error:
            raise UnusableError(f"{doing}: can't run {command[0]}: {error.strerror}") from error
        try:
            code = tool.wait()
        except BaseException:  # Ctrl-C: compilers that the tool has started must not go on without it
            with suppress(ProcessLookupError):
                os.killpg(tool.pid, signal.SIGKILL)
            tool.wait()
            raise
    if code != 0:
        with log.open("rb") as written:
            written.seek(start)
            output = written.read().decode(errors="replace")
        raise UnusableError(f"{doing} failed ({code}): {telling(output)}; the full log is {log}")
