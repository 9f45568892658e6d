"""The links that say which of several versions counts: the vendor's installers lead them to theirs."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from npu_assay.cann import advice
from npu_assay.cann.discovery import TOOLKIT_LINKS

_LINKS = (*TOOLKIT_LINKS, "nnal/atb/latest")


@dataclass(frozen=True)
class Links:
    """Where the links below a root led."""

    root: Path
    targets: dict[str, str]

    @classmethod
    def of(cls, root: Path) -> "Links":
        """As they are now."""
        found = {name: root / name for name in _LINKS if (root / name).is_symlink()}
        return cls(root, {name: str(path.readlink()) for name, path in found.items()})

    def changed(self) -> Iterator[str]:
        """A line for each that leads elsewhere now, with what leads it back; for shells that use it."""
        now = Links.of(self.root).targets
        for name, target in self.targets.items():
            if now.get(name) != target:
                yield (
                    f"{self.root / name} led to {target}, now to {now.get(name, 'nothing')};"
                    f" to lead it back: {advice.link(target, self.root / name)}"
                )
