"""Errors that end a command: one line for the user, and the exit code that goes with it.

Exit codes (ARCHITECTURE.md): 0 all good, 1 a check failed, 2 bad usage or input, 3 inconclusive,
4 the environment or the device can't be used.
"""


class AssayError(Exception):
    """A failure with a message made for the user: what, where, what was expected, what to do next."""

    exit_code = 1


class UsageError(AssayError):
    """Bad usage or bad input."""

    exit_code = 2


class InconclusiveError(AssayError):
    """Nothing can be said."""

    exit_code = 3


class UnusableError(AssayError):
    """The environment or the device can't be used."""

    exit_code = 4
