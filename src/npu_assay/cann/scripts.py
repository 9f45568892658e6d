"""What CANN's environment scripts set, found by sourcing them: their rules are not written a second time."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from npu_assay.errors import UnusableError

# The scripts are written for interactive shells: they read variables that may not be set, print what they
# like and may end on a false test. So no -u, no -e; what counts is the environment, which goes to descriptor
# 3.
_SOURCE_ALL = 'exec 3>&1 1>&2; for script; do set --; . "$script"; done; exec env -0 >&3'

#: Set by the shell itself, whatever the scripts do.
_SHELLS_OWN = {"_", "SHLVL", "PWD", "OLDPWD"}


def sourced(scripts: Sequence[Path], base: Mapping[str, str]) -> dict[str, str]:
    """The environment after sourcing `scripts`, in order, in a shell that starts with `base` alone.

    Raises UnusableError when a script is missing or ends the shell.
    """
    for script in scripts:
        if not script.is_file():
            raise UnusableError(f"{script}: no such environment script; is this a whole CANN?")
    run = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", _SOURCE_ALL, "bash", *map(str, scripts)],
        env={**base},
        capture_output=True,
        check=False,
    )
    if run.returncode != 0 or not run.stdout:
        said = run.stderr.decode(errors="replace").strip().splitlines()
        names = " and ".join(map(str, scripts))
        raise UnusableError(
            f"{names}: sourcing ended with {run.returncode}: {said[-1] if said else 'nothing was said'}"
        )
    pairs = (
        entry.partition("=") for entry in run.stdout.decode(errors="surrogateescape").split("\0") if entry
    )
    return {name: value for name, _, value in pairs if name not in _SHELLS_OWN}
