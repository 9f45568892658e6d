"""Recording in a lock the sha256 of a downloaded file, or the vendor's image, where the lock has none.

Everything else of the lock stays as it was written, to the byte: comments, order and line breaks.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import tomlkit
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version
from tomlkit.items import AbstractTable, InlineTable

from npu_assay.digest import sha256_of
from npu_assay.environment.lock import UNVERIFIED, Component, Lock, LockFile
from npu_assay.errors import UnusableError, UsageError


@dataclass(frozen=True)
class Slot:
    """A place for a sha256 in a lock."""

    component: str
    emulated: bool
    """Whether it is in the component's table `emulated`."""
    key: str
    """The architecture, or sdist."""
    sha256: str
    """What stands there now."""
    file: str | None
    """The name of the file, where the lock has one; else a wheel or sdist is known by its own name."""
    version: str

    @property
    def where(self) -> str:
        """Its key in the lock."""
        return f"components.{self.component}{'.emulated' if self.emulated else ''}.sha256.{self.key}"

    @property
    def expects(self) -> str:
        """The file that belongs there, in words."""
        return self.file or f"{self.component} {self.version} ({self.key})"

    def takes(self, name: str) -> bool:
        """Whether a file of that name belongs there."""
        return name == self.file if self.file else _is_distribution(name, self)


@dataclass(frozen=True)
class Recorded:
    """What became of a file."""

    file: Path
    slot: Slot
    sha256: str
    changed: bool
    """False when the lock had it already."""


def slots(lock: Lock) -> list[Slot]:
    """Every place for a sha256 in a lock, in the order of its components."""
    found: list[Slot] = []
    for name, component in lock.content.components.items():
        found += _slots_of(name, component, emulated=False)
        if isinstance(component.emulated, Component):
            found += _slots_of(name, component.emulated, emulated=True)
    return found


def _slots_of(name: str, component: Component, *, emulated: bool) -> list[Slot]:
    return [
        Slot(
            component=name,
            emulated=emulated,
            key=key,
            sha256=sha256,
            file=component.file and component.file.format(architecture=key),
            version=component.version,
        )
        for key, sha256 in component.sha256.items()
    ]


def _is_distribution(name: str, slot: Slot) -> bool:
    """Whether a file name is that of the slot's wheel or source distribution."""
    try:
        if name.endswith(".whl"):
            found, version, _, tags = parse_wheel_filename(name)
            platforms = {tag.platform for tag in tags}
            fits = platforms == {"any"} or any(platform.endswith(f"_{slot.key}") for platform in platforms)
        else:
            found, version = parse_sdist_filename(name)
            fits = slot.key == "sdist"
        return fits and found == canonicalize_name(slot.component) and version == Version(slot.version)
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return False


def record(lock: Lock, files: Iterable[Path], *, force: bool = False) -> list[Recorded]:
    """Put the hashes of files into their slots and write the lock, at once for all of them.

    Raises UsageError, and writes nothing, for a file whose name the lock does not know, for one whose
    recorded hash is another (unless `force`), and for one that can't be read.
    """
    known = slots(lock)
    found = [_look(lock, known, file, force=force) for file in files]
    text = lock.path.read_text()
    changed = _with_hashes(text, [one for one in found if one.changed])
    if changed != text:
        LockFile.model_validate(tomllib.loads(changed))
        _replace(lock.path, changed)
    return found


def _look(lock: Lock, known: list[Slot], file: Path, *, force: bool) -> Recorded:
    slot = next((slot for slot in known if slot.takes(file.name)), None)
    if slot is None:
        expected = ", ".join(dict.fromkeys(slot.expects for slot in known if slot.sha256 == UNVERIFIED))
        raise UsageError(
            f"{file}: no component of {lock.name} is a file of that name;"
            f" {f'still to be recorded: {expected}' if expected else 'every hash is recorded'}"
        )
    try:
        sha256 = sha256_of(file)
    except OSError as error:
        raise UsageError(f"{file}: can't be read ({error.strerror})") from error
    if slot.sha256 not in (UNVERIFIED, sha256) and not force:
        raise UsageError(
            f"{file}: sha256 {sha256}, but {lock.path} has {slot.sha256} as {slot.where}; one of the two is"
            " another build: find out which, and say --force if it is this one"
        )
    return Recorded(file, slot, sha256, changed=slot.sha256 != sha256)


#: As docker writes an image: its repository may stand before it.
_IMAGE = re.compile(r"(?:\S+:)?(?P<tag>[\w][\w.-]*)@(?P<digest>sha256:[0-9a-f]{64})")


def record_image(lock: Lock, image: str, *, force: bool = False) -> str:
    """Put the vendor's image, TAG@sha256:..., into the lock's component cann; returns it in that form.

    Raises UsageError for another form, and where the lock has another (unless `force`).
    """
    match = _IMAGE.fullmatch(image)
    if match is None:
        raise UsageError(
            f"{image!r}: expected TAG@sha256:... of the vendor's image, with 64 hexadecimal digits"
        )
    there = lock.content.components["cann"].image
    if there is not None and there.digest not in (UNVERIFIED, match["digest"]) and not force:
        raise UsageError(
            f"{image}: {lock.path} has {there.tag}@{there.digest}; find out which one you trust, and say"
            " --force if it is this one"
        )
    document = tomlkit.parse(lock.path.read_text())
    table = document["components"]
    assert isinstance(table, AbstractTable)
    component = table["cann"]
    assert isinstance(component, AbstractTable)
    component["image"] = _inline(match.groupdict())
    changed = tomlkit.dumps(document)
    LockFile.model_validate(tomllib.loads(changed))
    _replace(lock.path, changed)
    return f"{match['tag']}@{match['digest']}"


def _inline(values: dict[str, str]) -> InlineTable:
    table = tomlkit.inline_table()
    table.update(values)
    return table


def _with_hashes(text: str, found: Iterable[Recorded]) -> str:
    document = tomlkit.parse(text)
    for one in found:
        table = document["components"]
        for key in (one.slot.component, *(("emulated",) if one.slot.emulated else ()), "sha256"):
            assert isinstance(table, AbstractTable)
            table = table[key]
        assert isinstance(table, AbstractTable)
        table[one.slot.key] = one.sha256
    return tomlkit.dumps(document)


def _replace(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(text)
        draft.chmod(path.stat().st_mode)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UnusableError(f"{path}: can't be written: {error.strerror}") from error
