"""Providers by name."""

import pytest

from npu_assay.cann.providers import provider
from npu_assay.errors import UnusableError


@pytest.mark.parametrize("name", ["emulated", "host"])
def test_a_provider_is_there_by_its_name(name: str) -> None:
    assert provider(name).name == name


def test_an_unknown_provider_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnusableError, match="no CANN provider 'moon'; there are emulated, host"):
        provider("moon")
