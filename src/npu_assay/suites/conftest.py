"""For every suite: what the stage was told, and at the end which CANN its process had loaded."""

import pytest
from support.cann import print_process_map
from support.stage import Stage, StageError


@pytest.fixture(scope="session")
def stage() -> Stage:
    """The stage that the suite runs in."""
    try:
        return Stage.from_variables()
    except StageError as error:
        pytest.exit(str(error), returncode=2)


def pytest_sessionfinish() -> None:
    """Leave the process's libraries in the log."""
    print()
    print_process_map()
