"""What can be wrong with npu-smi's output."""

from npu_assay.errors import UnusableError, UsageError


class UnknownLayoutError(UsageError):
    """A text that no parser knows; quotes the line that it stopped at."""

    def __init__(self, source: str, line: str, expected: str) -> None:
        super().__init__(f"{source}: unknown npu-smi layout: expected {expected}, found {line.strip()!r}")


class DriverFailureError(UnusableError):
    """npu-smi ran, but the driver did not answer: that is an error, never "no cards"."""

    def __init__(self, source: str, line: str) -> None:
        super().__init__(
            f"{source}: npu-smi could not reach the driver: {line.strip()!r}; is the device mounted "
            f"here, and held by nobody else?"
        )
