"""Differences in CANN: is it there, in the lock's build? cann/diagnose.py looks deeper."""

from collections.abc import Iterator

from npu_assay.diagnosis import Level
from npu_assay.environment.drift.difference import Difference
from npu_assay.environment.drift.look import Look
from npu_assay.errors import UnusableError

_LOOK_DEEPER = "npu-assay doctor tells which CANN is where; install the build that the lock names"


def cann(look: Look) -> Iterator[Difference]:
    """CANN's own record of its build, and NNAL's environment script."""
    if look.cann is None:
        return
    expected = look.variant.component("cann").build
    advice = look.mend.again or _LOOK_DEEPER
    try:
        found = look.cann.innerversion()
    except UnusableError as error:
        yield _of("cann", str(error), expected, None, advice)
        return
    if expected is not None and found != expected:
        where = look.cann.install_info
        yield _of("cann", f"CANN is {found} ({where}), the lock says {expected}", expected, found, advice)
    if not look.cann.atb_script.is_file():
        message = f"{look.cann.atb_script} is not there: NNAL is not installed"
        yield _of("nnal", message, look.variant.component("nnal").version, None, advice)


def _of(subject: str, message: str, expected: str | None, found: str | None, advice: str) -> Difference:
    return Difference(
        check=f"{subject}-build",
        level=Level.PROBLEM,
        subject=subject,
        expected=expected,
        found=found,
        message=message,
        advice=advice,
    )
