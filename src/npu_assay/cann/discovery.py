"""Finding every CANN, ATB and driver of a machine, by whatever name, and each once.

The layouts: since 8.5.0 `cann-9.0.0/` with `cann` and `ascend-toolkit/latest` as links to it; before,
`ascend-toolkit/8.3.RC2/`, and `latest/` is a folder of links into it. So two names are one CANN when they
lead to one ascend_toolkit_install.info, or where there is none to one folder.
"""

import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from npu_assay.cann.files.atb_info import parse_atb_info
from npu_assay.cann.files.driver_info import parse_driver_info, parse_firmware_info
from npu_assay.cann.files.host_info import parse_host_info
from npu_assay.cann.files.install_info import parse_ops_install_info, parse_toolkit_install_info
from npu_assay.cann.files.package_info import parse_package_info
from npu_assay.cann.files.reading import read_version_file
from npu_assay.cann.files.version_cfg import parse_version_cfg
from npu_assay.cann.installed import Atb, Dangling, Driver, Found, Installed, Toolkit
from npu_assay.cann.paths import is_file, is_folder, is_there, real_path

T = TypeVar("T")
P = TypeVar("P", bound=Found)

#: What CANN's set_env.sh sets to its own folder.
TOOLKIT_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
#: What ATB's set_env.sh sets to `<ATB>/atb/cxx_abi_<0 or 1>`.
ATB_VARIABLE = "ATB_HOME_PATH"
#: Names of the CANN that an installation means when no variable says otherwise.
TOOLKIT_LINKS = ("cann", "ascend-toolkit/latest")
TOOLKIT_INFO = "ascend_toolkit_install.info"
OPS_INFO = "ascend_ops_install.info"
HAL = "libascend_hal.so"

#: Where CANN, NNAL and the driver are installed unless their installers are told otherwise.
USUAL_ROOT = Path("/usr/local/Ascend")


@dataclass(frozen=True)
class Places:
    """Where to look. A planted tree is as good as the machine's own."""

    root: Path = USUAL_ROOT
    """The folder that holds cann/ and nnal/, and mostly driver/."""
    usual: Path = USUAL_ROOT
    """Where the driver is when it is neither there nor where its installer says."""
    host_info: Path = Path("/etc/ascend_install.info")
    system_libraries: tuple[Path, ...] = tuple(
        map(Path, ("/usr/local/lib64", "/usr/local/lib", "/usr/lib64", "/lib64", "/usr/lib"))
    )
    """Where the dynamic linker looks by itself, and where installers of drivers put copies."""
    npu_smi: tuple[Path, ...] = (Path("/usr/local/sbin"), Path("/usr/local/bin"))
    """Where the driver's installer, or whoever starts a container, puts npu-smi; not on every PATH."""
    machine: str = field(default_factory=platform.machine)
    """The architecture whose folders count, as `uname -m` says it."""


def usual_roots(variables: Mapping[str, str]) -> tuple[Path, ...]:
    """Where the vendor's installers put CANN unless told otherwise: for all users, and in a user's home."""
    home = variables.get("HOME")
    return (USUAL_ROOT, Path(home) / "Ascend") if home else (USUAL_ROOT,)


def root_of(variables: Mapping[str, str]) -> Path:
    """The root that the CANN of these variables was installed into, else the first usual one that has any."""
    for _, path in _named_by_variables(variables):
        root = real_path(path)
        for folder in (root.parent, root.parent.parent):
            if any(is_there(folder / name) for name in ("nnal", "driver", *TOOLKIT_LINKS)):
                return folder
    having = (root for root in usual_roots(variables) if any(_toolkit_names(root)))
    return next(having, USUAL_ROOT)


def find_installed(places: Places, variables: Mapping[str, str]) -> Installed:
    """All there is, by the variables and below the root. Links are followed; nothing is changed."""
    names = [*_named_by_variables(variables), *_toolkit_names(places.root)]
    toolkits = _merged(_toolkit(name, path, places) for name, path in names if is_folder(path))
    dangling = [Dangling(name, path) for name, path in names if not is_folder(path)]
    atb_names = [*_atb_of_variable(variables), *_atb_names(places.root)]
    atbs = _merged(_atb(name, path) for name, path in atb_names if is_folder(path))
    dangling += [Dangling(name, path) for name, path in atb_names if not is_folder(path)]
    host = read_version_file(places.host_info, parse_host_info)
    return Installed(
        toolkits=tuple(toolkits),
        atbs=tuple(atbs),
        atb_script=_atb_script(atbs[0].root if atbs else None, places.root),
        driver=_driver(places, host.value.driver_path if host and host.value else None),
        host=host,
        dangling=tuple(dangling),
    )


def _named_by_variables(variables: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    for name in TOOLKIT_VARIABLES:
        if value := variables.get(name):
            yield name, Path(value)


def _toolkit_names(root: Path) -> Iterator[tuple[str, Path]]:
    """Links first, since they choose; a link that leads nowhere counts as a name."""
    for link in TOOLKIT_LINKS:
        if (root / link).is_symlink() or is_there(root / link):
            yield link, root / link
    for folder in (*_folders(root, "cann-*"), *_folders(root / "ascend-toolkit", "*")):
        name = str(folder.relative_to(root))
        if name not in TOOLKIT_LINKS:
            yield name, folder


def _folders(root: Path, pattern: str) -> list[Path]:
    return sorted(path for path in root.glob(pattern) if is_folder(path))


def _toolkit(name: str, path: Path, places: Places) -> Toolkit:
    info = _toolkit_info(path, places.machine)
    root = real_path(info.parent.parent if info else path)
    beside = info.parent if info else root / f"{places.machine}-linux"
    return Toolkit(
        root=root,
        names=(name,),
        info=read_version_file(info, parse_toolkit_install_info) if info else None,
        ops=read_version_file(beside / OPS_INFO, parse_ops_install_info),
        kernels=read_version_file(root / "opp_kernel" / "version.info", parse_package_info),
        version_cfg=_first(
            read_version_file(folder / "version.cfg", parse_version_cfg) for folder in (root, path)
        ),
        script=_toolkit_script(root, path),
    )


def _toolkit_info(path: Path, machine: str) -> Path | None:
    """The install info, this machine's first; a name may lead to the architecture's folder itself."""
    folders = [path / f"{machine}-linux", *sorted(path.glob("*-linux")), path]
    found = _first(folder / TOOLKIT_INFO for folder in folders if is_file(folder / TOOLKIT_INFO))
    return real_path(found) if found else None


def _toolkit_script(root: Path, path: Path) -> Path | None:
    """Before 8.5.0 it stands in ascend-toolkit/, beside the versions."""
    folders = [root, path]
    if root.parent.name == "ascend-toolkit":
        folders.append(root.parent)
    return _first(folder / "set_env.sh" for folder in folders if is_file(folder / "set_env.sh"))


def _atb_of_variable(variables: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if value := variables.get(ATB_VARIABLE):
        path = Path(value)
        yield ATB_VARIABLE, path.parent.parent if is_folder(path) else path


def _atb_names(root: Path) -> Iterator[tuple[str, Path]]:
    folder = root / "nnal" / "atb"
    latest = folder / "latest"
    if latest.is_symlink() or is_there(latest):
        yield "nnal/atb/latest", latest
    for path in _folders(folder, "*"):
        if path != latest:
            yield str(path.relative_to(root)), path


def _atb(name: str, path: Path) -> Atb:
    root = real_path(path)
    return Atb(
        root=root,
        names=(name,),
        info=read_version_file(root / "version.info", parse_atb_info),
        abis=tuple(abi for abi in (0, 1) if is_folder(root / "atb" / f"cxx_abi_{abi}")),
        script=_first(script for script in (root / "atb" / "set_env.sh",) if is_file(script)),
    )


def _atb_script(used: Path | None, root: Path) -> Path | None:
    """Beside the versions; copies of an ATB have been seen with it inside."""
    folders = [used.parent, used / "atb"] if used else []
    folders.append(root / "nnal" / "atb")
    return _first(folder / "set_env.sh" for folder in folders if is_file(folder / "set_env.sh"))


def _driver(places: Places, recorded: str | None) -> Driver:
    """The driver below the root, else where its installer says that it put it, else in the usual place, where
    it should be.
    """
    candidates = [places.root, *([Path(recorded)] if recorded else []), places.usual]
    roots = [candidate / "driver" for candidate in candidates]
    root = next((root for root in roots if is_folder(root)), roots[-1])
    hals = (root / "lib64" / "driver" / HAL, root / "lib64" / HAL, root / "lib64" / "common" / HAL)
    return Driver(
        root=root,
        info=read_version_file(root / "version.info", parse_driver_info),
        firmware=read_version_file(root.parent / "firmware" / "version.info", parse_firmware_info),
        hal=_first(path for path in hals if is_file(path)),
    )


def _first(items: Iterable[T]) -> T | None:
    return next((item for item in items if item is not None), None)


def _merged(found: Iterable[P]) -> list[P]:
    """Each once, with all the names that lead to it."""
    merged: dict[Path, P] = {}
    for one in found:
        known = merged.get(one.root)
        merged[one.root] = replace(known, names=(*known.names, *one.names)) if known else one
    return list(merged.values())
