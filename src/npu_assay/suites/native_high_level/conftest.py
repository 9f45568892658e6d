"""One engine for the whole suite: starting it takes longer than everything that is then asked of it."""

import pytest
from engine import Engine
from settings import Settings
from support.stage import Stage, StageError


def _read_settings() -> tuple[Stage, Settings]:
    try:
        stage = Stage.from_variables()
        return stage, stage.settings(Settings)
    except StageError as error:
        pytest.exit(str(error), returncode=2)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test a round."""
    if "run" in metafunc.fixturenames:
        metafunc.parametrize("run", range(1, _read_settings()[1].rounds + 1))


def pytest_ignore_collect(collection_path: object) -> bool | None:
    """Leave out what doesn't apply: only the emulator computes in float32 as the CPU does."""
    if getattr(collection_path, "name", "") != "test_tokens_equal_cpu.py":
        return None
    stage, settings = _read_settings()
    if stage.emulated and settings.model is None and settings.dtype in (None, "float32"):
        return None
    print("tokens equal to the CPU's: not applicable, only to the tiny model in float32 on the emulator")
    return True


@pytest.fixture(scope="session")
def engine(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The running engine."""
    _, settings = _read_settings()
    running = Engine(settings, stage.emulated, tmp_path_factory.mktemp("engine"))
    print(f"block size {running.block_tokens}, offloadable {running.offloadable_tokens} tokens of a prompt")
    running.print_process_maps()
    if running.offloadable_tokens < 1:
        pytest.exit(
            f"prompt_tokens={settings.prompt_tokens} is less than a KV block of {running.block_tokens} "
            "tokens: nothing would be offloaded; set a longer prompt",
            returncode=2,
        )
    return running
