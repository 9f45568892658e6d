"""Another program in the place of this process: signals and the exit code are its own."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from npu_assay.errors import UsageError


def become(command: Sequence[str], variables: Mapping[str, str], advice: str = "") -> NoReturn:
    """Run `command`, found on the PATH of these variables.

    Raises UsageError, with the advice, when it can't be run.
    """
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and an exec would hand down
        signal.signal(number, signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(command[0], list(command), variables)
    except OSError as error:
        next_step = f"; {advice}" if advice else ""
        raise UsageError(f"{command[0]}: can't be run ({error.strerror}){next_step}") from error
