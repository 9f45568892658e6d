"""One engine for the whole suite: starting it takes longer than everything that is then asked of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from settings import Settings
from support.engine_suite import EMULATED, SETTINGS, ignores, read_settings
from support.stage import Stage

if TYPE_CHECKING:
    from offloading_engine import OffloadingEngine


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings before anything slow is imported."""
    read_settings(config, Settings)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test a round."""
    if "run" in metafunc.fixturenames:
        metafunc.parametrize("run", range(1, metafunc.config.stash[SETTINGS].rounds + 1))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what doesn't apply."""
    return ignores(collection_path, config)


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest, stage: Stage) -> Iterator["OffloadingEngine"]:
    """The running engine; the stage's scratch folder, which it runs in, has room for the tiny model."""
    from offloading_engine import OffloadingEngine

    settings, emulated = request.config.stash[SETTINGS], request.config.stash[EMULATED]
    running = OffloadingEngine(settings, emulated, scratch=Path.cwd())
    print(f"block size {running.block_tokens}, offloadable {running.offloadable_tokens} tokens of a prompt")
    running.print_process_maps()
    if running.offloadable_tokens < 1:
        pytest.exit(
            f"prompt_tokens={settings.prompt_tokens} is less than a KV block of {running.block_tokens} "
            "tokens: nothing would be offloaded; set a longer prompt",
            returncode=2,
        )
    yield running
    running.write_inputs(stage.inputs_file)
