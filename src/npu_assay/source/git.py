"""Calls of git that neither change what they look at nor run what it says.

Whatever points git at another repository is taken out of the caller's variables, the index is not refreshed
(GIT_OPTIONAL_LOCKS), hooks and the file-system monitor of a checkout are not run, and a checkout of another
owner is read all the same: `safe.directory` guards against just these (git-config(1)). The user's own
settings (proxies, credential helpers, `insteadOf`) hold.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from npu_assay.errors import UnusableError
from npu_assay.source.location import without_credentials

#: `git rev-parse --local-env-vars`, and what would make git say something else to somebody else.
_NOT_INHERITED = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_TRACE",
    "GIT_TRACE_CURL",
    "GIT_WORK_TREE",
)
_ALWAYS = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "LANGUAGE": "C",
}
_SETTINGS = ("safe.directory=*", "core.fsmonitor=false", f"core.hooksPath={os.devnull}", "gc.auto=0")


class GitError(Exception):
    """git ended with an error; the message is one line of its own, without credentials."""


def git(
    arguments: Sequence[str],
    *,
    folder: Path,
    stdin: bytes = b"",
    variables: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> bytes:
    """What git prints on standard output.

    Raises GitError when it fails or takes longer than `timeout` seconds, UnusableError when there is no git.
    """
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    own = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    try:
        ended = subprocess.run(
            ["git", *settings, "-C", str(folder), *arguments],
            input=stdin,
            env={**own, **_ALWAYS, **(variables or {})},
            capture_output=True,
            check=False,
            timeout=timeout,
        )
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise UnusableError("git is not on PATH; install it: apt-get install git") from error
    except subprocess.TimeoutExpired as error:
        raise GitError(f"no answer within {timeout:g} s") from error
    if ended.returncode != 0:
        raise GitError(_first_error(ended.stderr) or f"git {arguments[0]} ended with {ended.returncode}")
    return ended.stdout


def _first_error(stderr: bytes) -> str:
    lines = [line.strip() for line in without_credentials(stderr.decode(errors="replace")).splitlines()]
    marked = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return next((line.partition(": ")[2] for line in marked), next(filter(None, lines), ""))
