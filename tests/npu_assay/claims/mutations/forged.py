"""A copy of an archive in the hands of somebody who edits it, and who can seal it again."""

import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from npu_assay.claims.checkout import Checkout
from npu_assay.errors import AssayError
from npu_assay.evidence.archive import UNSEALED, Archive
from npu_assay.evidence.archive import seal as seal_archive
from npu_assay.report.derived import DERIVED, derive

Json = dict[str, Any]
#: Reports may be missing, and take their time.
STATEMENT = tuple(derived for derived in DERIVED if derived.required)
MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"


@dataclass(frozen=True)
class Forged:
    """The copy at root. An edit that changes nothing is an error of the mutation."""

    root: Path
    checkout: Checkout
    """By whose data it is judged."""

    @classmethod
    def of(cls, good: Path, root: Path, checkout: Checkout) -> "Forged":
        """A copy of hard links: cheap, and every edit below makes a file of its own."""
        shutil.copytree(good, root, copy_function=os.link)
        return cls(root, checkout)

    def path(self, name: str) -> Path:
        return self.root / name

    def has(self, name: str) -> bool:
        return self.path(name).exists()

    def read(self, name: str) -> bytes:
        return self.path(name).read_bytes()

    def write(self, name: str, data: bytes | str) -> None:
        """Raises AssertionError when the file held just that."""
        data = data.encode() if isinstance(data, str) else data
        path = self.path(name)
        assert not path.is_file() or path.read_bytes() != data, f"{name}: the mutation changes nothing"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(data)

    def remove(self, name: str) -> None:
        self.path(name).unlink()

    def rename(self, name: str, to: str) -> None:
        self.path(to).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).rename(self.path(to))

    def append(self, name: str, data: bytes | str) -> None:
        self.write(name, self.read(name) + (data.encode() if isinstance(data, str) else data))

    def replace(self, name: str, old: str, new: str) -> None:
        """Everywhere in the file."""
        self.write(name, self.read(name).replace(old.encode(), new.encode()))

    def substitute(self, name: str, pattern: str, replacement: str, count: int = 1) -> None:
        """The first places that match, or all with count 0; `^` and `$` are those of lines."""
        changed = re.sub(
            pattern.encode(), replacement.encode(), self.read(name), count=count, flags=re.MULTILINE
        )
        self.write(name, changed)

    def flip(self, name: str, at: float = 0.5) -> None:
        """One bit of the byte which is that far into the file."""
        data = bytearray(self.read(name))
        data[int((len(data) - 1) * at)] ^= 1
        self.write(name, bytes(data))

    def names(self, pattern: str = "*") -> list[str]:
        """Of the regular files, below the root."""
        return sorted(p.relative_to(self.root).as_posix() for p in self.root.rglob(pattern) if p.is_file())

    def edit_json(self, name: str, edit: Callable[[Json], object]) -> None:
        values = json.loads(self.read(name))
        edit(values)
        self.write(name, json.dumps(values, indent=2) + "\n")

    def edit_manifest(self, edit: Callable[[Json], object]) -> None:
        self.edit_json(MANIFEST, edit)

    def edit_stage(self, name: str, **values: object) -> None:
        """Keys of the stage's record in the manifest."""
        self.edit_manifest(lambda manifest: stage_of(manifest, name).update(values))

    def edit_xml(self, name: str, edit: Callable[[ElementTree.Element], object]) -> None:
        root = ElementTree.fromstring(self.read(name))
        edit(root)
        self.write(name, ElementTree.tostring(root, xml_declaration=True, encoding="utf-8"))

    def rows(self, name: str) -> list[Json]:
        """Of a JSON Lines file."""
        return [json.loads(line) for line in self.read(name).splitlines()]

    def write_rows(self, name: str, rows: list[Json]) -> None:
        self.write(name, "".join(json.dumps(row) + "\n" for row in rows))

    def edit_row(self, name: str, number: int, **values: object) -> None:
        """Keys of one row, counted from 0."""
        rows = self.rows(name)
        rows[number] |= values
        self.write_rows(name, rows)

    def seal(self) -> None:
        """SHA256SUMS and all that is derived, as npu-assay itself would write them for what is there."""
        self.seal_sums()
        self.derive()

    def seal_sums(self) -> None:
        self.path(SUMS).unlink(missing_ok=True)
        seal_archive(Archive(self.root))

    def derive(self) -> None:
        """What is derived, for the checksums that are there; of some corruptions nothing can be."""
        for name in UNSEALED - {SUMS}:
            self.path(name).unlink(missing_ok=True)
        with suppress(AssayError):
            derive(self.root, self.checkout, STATEMENT)


def stage_of(manifest: Json, name: str) -> Json:
    """A stage's record."""
    found: Json = next(stage for stage in manifest["stages"] if stage["name"] == name)
    return found
