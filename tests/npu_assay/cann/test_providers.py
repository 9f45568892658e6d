"""Providers: the emulated one now, the others by name."""

import pytest

from npu_assay.cann.providers import provider
from npu_assay.errors import UnusableError


def test_the_emulated_provider_is_there() -> None:
    assert provider("emulated").name == "emulated"


@pytest.mark.parametrize("name", ["host", "run-packages", "image"])
def test_later_providers_are_not_available_yet(name: str) -> None:
    with pytest.raises(UnusableError, match=f"provider '{name}' is not available yet"):
        provider(name)


def test_an_unknown_provider_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnusableError, match="no CANN provider 'moon'; there are emulated, host"):
        provider("moon")
