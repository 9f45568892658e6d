"""RECORD: the list of files that an installed distribution has (PyPA's "Recording installed projects")."""

import base64
import csv
import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from npu_assay.environment.installed import Installed
from npu_assay.errors import UsageError


@dataclass(frozen=True)
class RecordedFile:
    """One row."""

    path: str
    """Relative to site-packages, with slashes; may lead out of it (../../../bin/vllm)."""
    sha256: str | None
    """As RECORD has it, base64 without padding; None for files that their installer left open."""
    size: int | None


@dataclass(frozen=True)
class Damage:
    """What is no longer as it was installed."""

    files: int
    """How many were looked at."""
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed)


def digest_of(content: bytes) -> str:
    """A sha256 in RECORD's own spelling."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def record_row(path: str, content: bytes | None = None) -> str:
    """A row with its line feed; without `content` its hash and size are left open, as installers may."""
    quoted = '"' + path.replace('"', '""') + '"' if any(c in path for c in ',"\r\n') else path
    return f"{quoted},,\n" if content is None else f"{quoted},sha256={digest_of(content)},{len(content)}\n"


def parse_record(text: str, where: str) -> tuple[RecordedFile, ...]:
    """The rows of a RECORD. Raises UsageError, with the row, for anything that is none.

    Hashes of another algorithm than sha256 are left out, as nothing writes them.
    """
    found: list[RecordedFile] = []
    for number, row in enumerate(csv.reader(io.StringIO(text, newline="")), start=1):
        if not row:
            continue
        if len(row) != 3 or not row[0] or not (row[2].isdecimal() or not row[2]):
            raise UsageError(
                f"{where}:{number}: expected path,algorithm=digest,size, found {','.join(row)!r}"
            )
        algorithm, _, digest = row[1].partition("=")
        found.append(
            RecordedFile(
                path=row[0],
                sha256=digest if algorithm == "sha256" and digest else None,
                size=int(row[2]) if row[2] else None,
            )
        )
    return tuple(found)


def damage_of(
    distribution: Installed, site_packages: Path, hashed: Callable[[RecordedFile], bool]
) -> Damage | None:
    """Compare the installed files with RECORD: are they there, with their sizes; `hashed` chooses those whose
    bytes are read too. Compiled Python, which Python makes again as it likes, is left out. None where there
    is no RECORD. Raises UsageError for one that is none, or was cut short: every RECORD names itself.
    """
    path = distribution.dist_info / "RECORD"
    try:
        text = path.read_bytes().decode()
    except OSError:
        return None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8: {error}") from error
    rows = parse_record(text, str(path))
    if f"{distribution.dist_info.name}/RECORD" not in {row.path for row in rows}:
        raise UsageError(f"{path}: does not name itself, so it was cut short or is another's")
    missing: list[str] = []
    changed: list[str] = []
    for row in rows:
        if row.path.endswith(".pyc"):
            continue
        file = f"{site_packages}/{row.path}"  # a Path for each of 16,000 files takes longer than looking
        try:
            size = os.stat(file).st_size  # noqa: PTH116
        except OSError:
            missing.append(row.path)
            continue
        unlike = row.size is not None and size != row.size
        if not unlike and row.sha256 is not None and hashed(row):
            unlike = digest_of(Path(file).read_bytes()) != row.sha256
        if unlike:
            changed.append(row.path)
    return Damage(len(rows), tuple(missing), tuple(changed))
