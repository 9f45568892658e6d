"""Differences in CANN: are toolkit, ops and NNAL there, in the lock's version and build?

cann/diagnose.py, which doctor asks, looks deeper: driver, links, scripts, libraries.
"""

from collections.abc import Iterator

from npu_assay.cann.agreement import Expected, Identity, Part, departures
from npu_assay.cann.discovery import find_installed
from npu_assay.diagnosis import Level
from npu_assay.environment.drift.difference import Difference
from npu_assay.environment.drift.look import Look

_COMPONENT = {Part.TOOLKIT: "cann", Part.OPS: "cann-ops", Part.NNAL: "nnal"}


def cann(look: Look) -> Iterator[Difference]:
    """What CANN's own version files say of it."""
    if look.cann is None:
        return
    installed = find_installed(look.cann.places, look.cann.variables)
    toolkit, atb = installed.toolkit, installed.atb
    if toolkit is None or toolkit.value is None:
        problem = toolkit.info.problem if toolkit and toolkit.info else None
        yield _difference(look, "cann", problem or f"no CANN below {look.cann.places.root}")
        return
    if atb is None:
        yield _difference(look, "nnal", f"no NNAL below {look.cann.places.root}")
    identity = Identity(
        toolkit=toolkit.value,
        ops=toolkit.ops.value if toolkit.ops else None,
        atb=atb.value if atb else None,
    )
    expected = Expected.of(look.variant.versions, look.variant.builds)
    for departure in departures(identity, expected):
        yield _difference(look, _COMPONENT[departure.part], f"{departure.message} ({toolkit.root})")


def _difference(look: Look, component: str, message: str) -> Difference:
    pin = look.variant.component(component)
    return Difference(
        check=f"{component}-build",
        level=Level.PROBLEM,
        subject=component,
        expected=f"{pin.version} ({pin.build})" if pin.build else pin.version,
        message=message,
        advice=look.mend.cann(look.variant),
    )
