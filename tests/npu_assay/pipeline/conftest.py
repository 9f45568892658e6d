import pytest
from small_pipelines import Running


@pytest.fixture
def running(tmp_path) -> Running:
    return Running(tmp_path)
