"""The command `docker`, asked for something: its answer, or one line about why there is none."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from npu_assay.errors import UnusableError
from npu_assay.printable import printable

#: Seconds for a daemon that answers at all.
_TIMEOUT = 60


def ask(
    *words: str,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> bytes:
    """What `docker WORDS` prints, started in that folder and with these variables.

    Raises UnusableError with docker's last line.
    """
    try:
        done = subprocess.run(
            ["docker", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=folder,
            env=variables,
            timeout=_TIMEOUT,
            check=False,
        )
    except OSError as error:
        raise not_started(error) from error
    except subprocess.TimeoutExpired as error:
        raise UnusableError(f"docker {words[0]} did not end in {_TIMEOUT} s") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise UnusableError(
            printable(f"docker: {said[-1]}" if said else f"docker: exit code {done.returncode}")
        )
    return done.stdout


def not_started(error: OSError) -> UnusableError:
    """That there is no docker to start."""
    return UnusableError(f"docker can't be run here ({error.strerror})")


@contextmanager
def container_of(image: str) -> Iterator[str]:
    """The id of a container of the image that is never started, and gone at the end. Raises UnusableError."""
    container = ask("container", "create", "--pull", "never", "--network", "none", image).decode().strip()
    try:
        yield container
    finally:
        ask("container", "rm", "--force", container)
