"""One engine for the whole suite: starting it takes longer than everything that is then asked of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.engine_settings import EngineSettings
from support.engine_suite import EMULATED, SETTINGS, ignores, read_settings
from support.stage import Stage

if TYPE_CHECKING:
    from support.engine import Engine


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings before anything slow is imported."""
    read_settings(config, EngineSettings)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what doesn't apply."""
    return ignores(collection_path, config)


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest, stage: Stage) -> Iterator["Engine"]:
    """The running engine; the stage's scratch folder, which it runs in, has room for the tiny model."""
    from support.engine import Engine

    running = Engine(request.config.stash[SETTINGS], request.config.stash[EMULATED], scratch=Path.cwd())
    running.print_process_maps()
    yield running
    running.write_inputs(stage.inputs_file)
