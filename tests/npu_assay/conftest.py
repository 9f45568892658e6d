import pytest
from offload_archive import OffloadArchive


@pytest.fixture
def offload(tmp_path) -> OffloadArchive:
    return OffloadArchive(tmp_path / "run")
