"""What CANN's environment scripts set, found by sourcing them: their rules are not written a second time.

A caller's script may run under `set -u`, and CANN's scripts may not: as published for 9.x, atb/set_env.sh
reads `$1` and ZSH_VERSION, and CANN's set_env.sh reads LD_LIBRARY_PATH and PYTHONPATH, where they may be
unset. So each is sourced under `set -u` first, and where it reads a variable that is not set, without.
"""

import os
import re
import signal
import subprocess
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from npu_assay.errors import UnusableError

# Arguments: of each script `-u` or `+u`, its path, and its own argument or nothing. They print what they like
# and may end on a false test, so no -e; what counts is the environment, which goes to descriptor 3.
_SOURCE_ALL = """\
exec 3>&1 1>&2
while [ $# -gt 0 ]; do
  _assay_rule=$1 _assay_script=$2; set -- "${@:3}"; _assay_rest=("${@:2}")
  set -- ${1:+"$1"}; set "$_assay_rule"; . "$_assay_script"; set +u
  set -- "${_assay_rest[@]}"
done
exec env -0 >&3
"""

#: Set by the shell itself, whatever the scripts do.
_SHELLS_OWN = {"_", "SHLVL", "PWD", "OLDPWD"}

#: bash's own words, in the C locale: `<script>: line 12: LD_LIBRARY_PATH: unbound variable`.
_UNBOUND = re.compile(
    r"^(?P<script>.+): line (?P<line>[0-9]+): (?P<variable>\S+): unbound variable$", re.MULTILINE
)


@dataclass(frozen=True)
class UnsetRead:
    """A script reads a variable that is not set, so that it can't be sourced under `set -u` as it is."""

    script: Path
    line: int
    variable: str

    def __str__(self) -> str:
        return f"{self.script}:{self.line} reads {self.variable}, which is not set"


@dataclass(frozen=True)
class Sourcing:
    """What came of sourcing scripts."""

    variables: dict[str, str]
    unset: tuple[UnsetRead, ...]
    """The first unset variables that each script read under `set -u`; it was sourced without."""


def source(
    scripts: Sequence[Path],
    base: Mapping[str, str],
    timeout: float | None = None,
    arguments: Mapping[Path, str] | None = None,
) -> Sourcing:
    """Source the scripts, in order, in one bash that starts with `base` alone.

    A script gets what `arguments` has for it, such as ATB's `--cxx_abi=1`, else nothing.

    Raises UnusableError when a script is missing, ends the shell, or does not end within `timeout` seconds.
    """
    for script in scripts:
        if not script.is_file():
            raise UnusableError(f"{script}: no such environment script; is this a whole CANN?")
    names = " and ".join(map(str, scripts))
    lenient: dict[Path, UnsetRead | None] = {}
    while True:
        try:
            code, out, said = _run(scripts, base, lenient, timeout, arguments or {})
        except subprocess.TimeoutExpired as error:
            raise UnusableError(f"{names}: sourcing did not end within {timeout:g} s") from error
        strict = [script for script in scripts if script not in lenient]
        unset = {read.script: read for read in reversed(_unset_reads(said)) if read.script in strict}
        if unset:
            lenient |= unset
        elif code != 0 and strict:  # perhaps it was about -u, told in another language
            lenient |= dict.fromkeys(strict)
        else:
            break
    if code != 0 or not out:
        lines = said.strip().splitlines()
        raise UnusableError(
            f"{names}: sourcing ended with {code}: {lines[-1] if lines else 'nothing was said'}"
        )
    pairs = (entry.partition("=") for entry in out.decode(errors="surrogateescape").split("\0") if entry)
    variables = {name: value for name, _, value in pairs if name not in _SHELLS_OWN}
    return Sourcing(variables, tuple(read for read in lenient.values() if read))


def sourced(
    scripts: Sequence[Path], base: Mapping[str, str], arguments: Mapping[Path, str] | None = None
) -> dict[str, str]:
    """The environment after sourcing the scripts; see `source`."""
    return source(scripts, base, arguments=arguments).variables


def _run(
    scripts: Sequence[Path],
    base: Mapping[str, str],
    lenient: Collection[Path],
    timeout: float | None,
    arguments: Mapping[Path, str],
) -> tuple[int, bytes, str]:
    """bash's exit code, the environment as `env -0` prints it, and what the scripts said."""
    words = [
        word
        for script in scripts
        for word in ("+u" if script in lenient else "-u", str(script), arguments.get(script, ""))
    ]
    bash = subprocess.Popen(
        ["bash", "--noprofile", "--norc", "-c", _SOURCE_ALL, "bash", *words],
        env={**base},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    try:
        out, said = bash.communicate(timeout=timeout)
    except BaseException:  # whatever the scripts have started must not go on without us
        with suppress(ProcessLookupError):
            os.killpg(bash.pid, signal.SIGKILL)
        bash.wait()
        raise
    return bash.returncode, out, said.decode(errors="replace")


def _unset_reads(said: str) -> list[UnsetRead]:
    return [
        UnsetRead(Path(match["script"]), int(match["line"]), match["variable"])
        for match in _UNBOUND.finditer(said)
    ]
