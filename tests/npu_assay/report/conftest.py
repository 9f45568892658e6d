from pathlib import Path

import pytest
from hostile_archive import make_hostile
from offload_archive import OffloadArchive


@pytest.fixture
def offload(tmp_path) -> OffloadArchive:
    """A sealed archive with what is derived from it."""
    offload = OffloadArchive(tmp_path / "run")
    offload.derive()
    return offload


@pytest.fixture(scope="session")
def hostile(tmp_path_factory) -> Path:
    """The root of an archive that wants to be obeyed, with its reports. Tests must leave it as it is."""
    return make_hostile(tmp_path_factory.mktemp("hostile") / "run").root
