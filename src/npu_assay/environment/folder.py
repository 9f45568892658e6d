"""Where things are in the cache folder of a venv that a lock describes."""

from abc import ABC, abstractmethod
from pathlib import Path


class VenvFolder(ABC):
    """What an environment's folder `root` holds."""

    root: Path

    @property
    @abstractmethod
    def python_version(self) -> str:
        """The minor version of its Python, such as 3.11."""

    @property
    def venv(self) -> Path:
        """The virtual environment."""
        return self.root / "venv"

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.venv / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """Where its packages are."""
        return self.venv / "lib" / f"python{self.python_version}" / "site-packages"

    @property
    def cuda_standins(self) -> Path:
        """Stand-ins for the CUDA libraries of torch's CUDA build; absent for a CPU build."""
        return self.root / "cudastub"

    @abstractmethod
    def build_variables(self) -> dict[str, str]:
        """All variables for pip and for builds."""

    def pip_variables(self) -> dict[str, str]:
        """Variables for pip alone, over those."""
        return {}
