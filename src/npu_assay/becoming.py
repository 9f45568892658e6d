"""Another program in the place of this process: signals and the exit code are its own."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from npu_assay.errors import UsageError


def become(command: Sequence[str], variables: Mapping[str, str]) -> NoReturn:
    """Run `command`, found on the PATH of these variables. Raises UsageError when it can't be run."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and an exec would hand down
        signal.signal(number, signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(command[0], list(command), variables)
    except OSError as error:
        raise UsageError(f"{command[0]}: can't be run ({error.strerror})") from error
