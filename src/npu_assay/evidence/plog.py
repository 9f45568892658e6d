"""CANN's logs of a stage that failed, kept in the archive: plog/<stage>/, laid out as CANN left them.

CANN writes `debug/plog/plog-<pid>_<time>.log`, `run/plog/...`, `debug/device-<id>/device-<pid>_<time>.log`
(CANN 9.0, maintenance reference, "log files"), of 20 MB each at most, a new one when one is full.
"""

from dataclasses import dataclass
from pathlib import Path

from npu_assay.evidence.archive import Archive
from npu_assay.printable import printable

#: Of one stage's logs, in bytes.
MOST_BYTES = 64 << 20
LEFT_OUT = "left-out.txt"


@dataclass(frozen=True)
class _Log:
    path: Path
    name: str
    size: int
    changed: float


def keep_plog(archive: Archive, stage: str, source: Path, most: int = MOST_BYTES) -> None:
    """Move a stage's logs from `source` into the archive: the newest ones, `most` bytes in all.

    Moved, not copied, as the disk may be full. Regular files only; left-out.txt names what was left out, and
    why. Nothing is made where there is no log.
    """
    logs, left_out = _look(source)
    target = archive.plog(stage)
    room = most
    for log in sorted(logs, key=lambda log: (-log.changed, log.name)):
        if log.size > room:
            left_out.append(f"{log.name}: {log.size} bytes; the newest, {most} bytes in all, were kept")
            continue
        room -= log.size
        kept = target / log.name
        kept.parent.mkdir(parents=True, exist_ok=True)
        log.path.rename(kept)
    if left_out:
        target.mkdir(parents=True, exist_ok=True)
        (target / LEFT_OUT).write_text("".join(f"{line}\n" for line in sorted(left_out)))


def _look(source: Path) -> tuple[list[_Log], list[str]]:
    """The logs, and what is none."""
    logs, others = [], []
    for path in source.rglob("*"):
        name = path.relative_to(source).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            others.append(f"{printable(name)}: no regular file")
        elif path.is_file() and (name == LEFT_OUT or printable(name) != name):
            others.append(f"{printable(name)}: its name")
        elif path.is_file() and (status := path.stat()).st_size:
            logs.append(_Log(path, name, status.st_size, status.st_mtime))
    return logs, others
