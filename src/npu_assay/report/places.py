"""What findings point at: read from the archive and from nowhere else, each file once, and not all of it."""

import stat
from collections.abc import Iterable
from pathlib import Path

from npu_assay.claims.findings import Evidence, Finding, Result
from npu_assay.report.excerpts import Excerpt, read_end, read_excerpts

#: Results that keep a verdict from being a pass.
PROBLEMS = (Result.FAIL, Result.INCONCLUSIVE)
#: Places of one finding that are shown.
MOST_PLACES = 12
#: Excerpts of a whole report.
MOST_EXCERPTS = 400


def excerpts_of(root: Path, findings: Iterable[Finding]) -> dict[Evidence, Excerpt]:
    """Around the lines that the findings name; where a problem names a log as a whole, the log's end.

    What can't be read has none: the integrity rule says so. The first findings come first.
    """
    places = dict.fromkeys(
        place for one in findings for place in one.evidence[:MOST_PLACES] if _shown(one, place)
    )
    wanted: dict[str, list[Evidence]] = {}
    for place in list(places)[:MOST_EXCERPTS]:
        wanted.setdefault(place.file, []).append(place)
    found = {}
    for name, of_file in wanted.items():
        if is_within(root, name):
            found.update(_read(root / name, of_file))
    return found


def _shown(finding: Finding, place: Evidence) -> bool:
    return place.line is not None or (finding.result in PROBLEMS and place.file.endswith(".log"))


def _read(path: Path, places: Iterable[Evidence]) -> dict[Evidence, Excerpt]:
    lines = {place.line: place for place in places}
    try:
        with path.open("rb") as file:
            read = read_excerpts(file, [line for line in lines if line is not None])
            found = {lines[line]: excerpt for line, excerpt in read.items()}
            if None in lines:
                file.seek(0)
                found[lines[None]] = read_end(file)
    except OSError:  # a folder, or not for us to read
        return {}
    return found


def is_within(root: Path, name: str) -> bool:
    """Whether that is a regular file or a folder of the archive, and no part of its path is a link."""
    path, parts = root, Path(name).parts
    if not parts or Path(name).is_absolute() or ".." in parts:
        return False
    try:
        for part in parts:
            path = path / part
            mode = path.lstat().st_mode
            if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                return False
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return False
    return True
