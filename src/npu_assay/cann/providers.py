"""The providers by name; a variant of a lock names one."""

from collections.abc import Callable, Mapping

from npu_assay.cann.emulated import EmulatedProvider
from npu_assay.cann.host import HostProvider
from npu_assay.cann.provider import Provider
from npu_assay.errors import UnusableError

_PROVIDERS: Mapping[str, Callable[[], Provider]] = {"emulated": EmulatedProvider, "host": HostProvider}


def provider(name: str) -> Provider:
    """The provider of that name. Raises UnusableError for another."""
    if name not in _PROVIDERS:
        raise UnusableError(f"no CANN provider {name!r}; there are {', '.join(_PROVIDERS)}")
    return _PROVIDERS[name]()
