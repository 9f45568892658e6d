"""One engine for the whole suite: starting it takes longer than everything that is then asked of it."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from settings import Settings
from support.stage import Stage, StageError

if TYPE_CHECKING:
    from engine import Engine

SETTINGS = pytest.StashKey[Settings]()
EMULATED = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings before anything slow is imported."""
    try:
        stage = Stage.from_variables()
        config.stash[SETTINGS], config.stash[EMULATED] = stage.settings(Settings), stage.emulated
    except StageError as error:
        pytest.exit(str(error), returncode=2)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test a round."""
    if "run" in metafunc.fixturenames:
        metafunc.parametrize("run", range(1, metafunc.config.stash[SETTINGS].rounds + 1))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what doesn't apply: only the emulator computes in float32 as the CPU does."""
    settings = config.stash[SETTINGS]
    applies = config.stash[EMULATED] and settings.model is None and settings.dtype in (None, "float32")
    if collection_path.name != "test_tokens_equal_cpu.py" or applies:
        return None
    print("tokens equal to the CPU's: not applicable, only to the tiny model in float32 on the emulator")
    return True


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> "Engine":
    """The running engine; the stage's scratch folder, which it runs in, has room for the tiny model."""
    from engine import Engine

    settings, emulated = request.config.stash[SETTINGS], request.config.stash[EMULATED]
    running = Engine(settings, emulated, scratch=Path.cwd())
    print(f"block size {running.block_tokens}, offloadable {running.offloadable_tokens} tokens of a prompt")
    running.print_process_maps()
    if running.offloadable_tokens < 1:
        pytest.exit(
            f"prompt_tokens={settings.prompt_tokens} is less than a KV block of {running.block_tokens} "
            "tokens: nothing would be offloaded; set a longer prompt",
            returncode=2,
        )
    return running
