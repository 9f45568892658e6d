"""The providers by name. A lock names one; today there is the emulated one."""

from npu_assay.cann.emulated import EmulatedProvider
from npu_assay.cann.provider import Provider
from npu_assay.errors import UnusableError

#: Providers that locks may name and that later work brings.
_NOT_YET = ("host", "run-packages", "image")


def provider(name: str) -> Provider:
    """The provider of that name. Raises UnusableError for those that are not available yet."""
    if name == "emulated":
        return EmulatedProvider()
    if name in _NOT_YET:
        raise UnusableError(
            f"the CANN provider {name!r} is not available yet; use an environment with 'emulated'"
        )
    raise UnusableError(f"no CANN provider {name!r}; there are emulated, {', '.join(_NOT_YET)}")
