"""What the runner needs to know of an environment; `npu_assay.environment` provides it."""

from pathlib import Path
from typing import Protocol


class StageEnvironment(Protocol):
    """An installed environment, ready to run stages in."""

    @property
    def python(self) -> Path:
        """The environment's Python."""

    @property
    def site_packages(self) -> Path:
        """Where its packages stand."""

    @property
    def vllm_ascend(self) -> Path:
        """The folder of the package vllm_ascend that its Python imports."""

    def unbuilt(self) -> str:
        """Why that package is not there yet, or nothing; no program of the environment may run then."""

    def variables(self) -> dict[str, str]:
        """All environment variables of a stage, PATH included."""
