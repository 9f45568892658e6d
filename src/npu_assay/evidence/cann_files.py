"""The version files of the CANN that a run used, kept in its archive as the bytes they were, with where they
stood.

```
cann/files.json                              which file was found where, by which names
cann/<role>/<the file's own name>            the file
```
`verify` reads them with the parsers that doctor uses; nothing here judges.
"""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import ValidationError, field_validator

from npu_assay.cann.files.atb_info import parse_atb_info
from npu_assay.cann.files.driver_info import parse_driver_info, parse_firmware_info
from npu_assay.cann.files.host_info import parse_host_info
from npu_assay.cann.files.install_info import parse_ops_install_info, parse_toolkit_install_info
from npu_assay.cann.files.package_info import parse_package_info
from npu_assay.cann.files.reading import VersionFile, read_version_file
from npu_assay.cann.files.version_cfg import parse_version_cfg
from npu_assay.cann.installed import Installed, Toolkit
from npu_assay.cann.paths import is_file
from npu_assay.errors import UsageError
from npu_assay.strict import Strict, first_problem

LISTING = "files.json"


class Role(StrEnum):
    """What a version file is of; the name of its folder in the archive."""

    TOOLKIT = "toolkit"
    OPS = "ops"
    KERNELS = "kernels"
    VERSION_CFG = "version-cfg"
    ATB = "atb"
    DRIVER = "driver"
    FIRMWARE = "firmware"
    HOST = "host"


_PARSERS: dict[Role, Callable[[str, str], object]] = {
    Role.TOOLKIT: parse_toolkit_install_info,
    Role.OPS: parse_ops_install_info,
    Role.KERNELS: parse_package_info,
    Role.VERSION_CFG: parse_version_cfg,
    Role.ATB: parse_atb_info,
    Role.DRIVER: parse_driver_info,
    Role.FIRMWARE: parse_firmware_info,
    Role.HOST: parse_host_info,
}


class KeptFile(Strict):
    """One version file."""

    role: Role
    found: str
    """Where it was, without links."""
    names: tuple[str, ...] = ()
    """By which names its CANN or ATB was found."""

    @field_validator("found")
    @classmethod
    def _absolute(cls, found: str) -> str:
        path = PurePosixPath(found)
        if not path.is_absolute() or ".." in path.parts:
            raise ValueError(f"{found!r} must be a whole path")
        return found

    @property
    def path(self) -> PurePosixPath:
        """Where it was."""
        return PurePosixPath(self.found)

    @property
    def file(self) -> str:
        """Where it is in the folder of kept files."""
        return f"{self.role}/{self.path.name}"


class KeptFiles(Strict):
    """files.json."""

    schema_version: Literal[1] = 1
    machine: str
    """The architecture, as `uname -m` says it."""
    files: tuple[KeptFile, ...]

    @field_validator("files")
    @classmethod
    def _each_role_once(cls, files: tuple[KeptFile, ...]) -> tuple[KeptFile, ...]:
        roles = [file.role for file in files]
        for role in roles:
            if roles.count(role) > 1:
                raise ValueError(f"{role} stands twice")
        return files

    def of(self, role: Role) -> KeptFile | None:
        """The file of that role, or None."""
        return next((file for file in self.files if file.role is role), None)


def keep_files(installed: Installed, toolkit: Toolkit, machine: str, folder: Path) -> KeptFiles:
    """Copy the version files of the parts that are used into the folder, and list them there."""
    atb, driver = installed.atb, installed.driver
    candidates: tuple[tuple[Role, VersionFile[Any] | None, tuple[str, ...]], ...] = (
        (Role.TOOLKIT, toolkit.info, toolkit.names),
        (Role.OPS, toolkit.ops, toolkit.names),
        (Role.KERNELS, toolkit.kernels, toolkit.names),
        (Role.VERSION_CFG, toolkit.version_cfg, toolkit.names),
        (Role.ATB, atb.info if atb else None, atb.names if atb else ()),
        (Role.DRIVER, driver.info, ()),
        (Role.FIRMWARE, driver.firmware, ()),
        (Role.HOST, installed.host, ()),
    )
    kept = []
    for role, file, names in candidates:
        if file is not None and is_file(file.path):
            one = KeptFile(role=role, found=str(file.path), names=names)
            target = folder / one.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.path.read_bytes())
            kept.append(one)
    listing = KeptFiles(machine=machine, files=tuple(kept))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LISTING).write_text(listing.model_dump_json(indent=2) + "\n")
    return listing


def read_kept(folder: Path) -> KeptFiles:
    """Read files.json. Raises UsageError that names the first thing which is wrong in it."""
    path = folder / LISTING
    try:
        return KeptFiles.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cann/{LISTING}: can't be read ({error.strerror})") from error
    except ValidationError as error:
        raise UsageError(f"cann/{LISTING}: {first_problem(error)}") from error


def read_file(folder: Path, file: KeptFile) -> VersionFile[Any]:
    """What a kept file says, or the problem with it, which names it as the archive does."""
    found = read_version_file(folder / file.file, _PARSERS[file.role], f"cann/{file.file}")
    return found or VersionFile(folder / file.file, None, f"cann/{file.file}: missing; files.json lists it")
