"""What the conftest.py of every suite with an engine does, before anything slow is imported."""

from pathlib import Path

import pytest

from support.engine_settings import EngineSettings
from support.stage import Stage, StageError

SETTINGS = pytest.StashKey[EngineSettings]()
EMULATED = pytest.StashKey[bool]()

#: Its test compares with the CPU.
CPU_TOKENS = "test_tokens_equal_cpu.py"


def read_settings(config: pytest.Config, model: type[EngineSettings]) -> None:
    """Keep the stage's settings with the configuration; end the session where they are wrong."""
    try:
        stage = Stage.from_variables()
        config.stash[SETTINGS], config.stash[EMULATED] = stage.settings(model), stage.emulated
    except StageError as error:
        pytest.exit(str(error), returncode=2)


def ignores(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what doesn't apply: only the emulator computes in float32 as the CPU does."""
    settings = config.stash[SETTINGS]
    applies = config.stash[EMULATED] and settings.model is None and settings.dtype in (None, "float32")
    if collection_path.name != CPU_TOKENS or applies:
        return None
    print("tokens equal to the CPU's: not applicable, only to the tiny model in float32 on the emulator")
    return True
