"""What a rule knows besides the archive: the locks and pipelines of this checkout."""

from dataclasses import dataclass
from pathlib import Path

from npu_assay.project import ENVIRONMENTS, PIPELINES


@dataclass(frozen=True)
class Checkout:
    """Where published locks and pipelines stand. An archive that was made with others is inconclusive."""

    environments: Path = ENVIRONMENTS
    pipelines: Path = PIPELINES

    def lock(self, name: str) -> Path:
        """The lock of that name; nothing here says that it exists."""
        return self.environments / f"{name}.toml"

    def pipeline(self, name: str) -> Path:
        """The pipeline of that name; nothing here says that it exists."""
        return self.pipelines / f"{name}.toml"


#: This one.
OWN = Checkout()
