import pytest
from offload_archive import OffloadArchive


@pytest.fixture
def offload(tmp_path) -> OffloadArchive:
    """A sealed archive with what is derived from it."""
    offload = OffloadArchive(tmp_path / "run")
    offload.derive()
    return offload
