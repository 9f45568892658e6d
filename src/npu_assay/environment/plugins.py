"""vLLM's plug-ins in a site-packages folder, found without importing any."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, distributions
from pathlib import Path

#: Groups of entry points that vLLM loads when it starts. What fails to load in them it logs, and goes on.
GROUPS = ("vllm.general_plugins", "vllm.platform_plugins")


@dataclass(frozen=True)
class Plugin:
    """One entry point."""

    distribution: str
    group: str
    name: str
    module: str
    """Such as vllm_ascend or a.b.c."""


def plugins(site_packages: Path) -> tuple[Plugin, ...]:
    """All of them, sorted; a distribution whose files can't be read has none, to importlib too."""
    found: set[Plugin] = set()
    for distribution in distributions(path=[str(site_packages)]):
        try:
            name = distribution.metadata["Name"]
            entries = distribution.entry_points
        except (OSError, UnicodeDecodeError):
            continue
        if name is not None:
            found |= {
                Plugin(name, one.group, one.name, _module(one)) for one in entries if one.group in GROUPS
            }
    return tuple(sorted(found, key=lambda plugin: (plugin.group, plugin.name, plugin.distribution)))


def _module(entry: EntryPoint) -> str:
    """The module of module:attribute; the whole value where it is not of that form."""
    try:
        return entry.module
    except AttributeError:  # of the match that importlib did not get
        return entry.value


def module_is_there(site_packages: Path, module: str) -> bool:
    """Whether a file of that module is there, as a package, a module or an extension module.

    Folders that .pth files name, such as those of editable installations, are looked in too.
    """
    parts = module.split(".")
    return any(_is_there(folder, parts) for folder in (site_packages, *_more_folders(site_packages)))


def _is_there(folder: Path, parts: list[str]) -> bool:
    for package in parts[:-1]:
        folder = folder / package
    last = folder / parts[-1]
    return (
        last.is_dir()
        or last.with_name(f"{last.name}.py").is_file()
        or any(folder.glob(f"{last.name}.*.so"))
        or (folder / f"{last.name}.so").is_file()
    )


def _more_folders(site_packages: Path) -> Iterator[Path]:
    for pth in sorted(site_packages.glob("*.pth")):
        for line in pth.read_text(errors="replace").splitlines():
            if line.strip() and not line.startswith(("#", "import ", "import\t")):
                yield site_packages / line.strip()
