"""No room imports from one above it, or beside it: ARCHITECTURE.md, "Arrows go down"."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from npu_assay.project import ROOT

PACKAGE = ROOT / "src/npu_assay"
#: Run by another Python; written from models that it names as text; what starts `cli`.
APART = {"suites", "schemas", "__main__"}


def floors() -> list[list[str]]:
    """The rooms, from the top down."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    (arrows,) = re.findall(r"^Arrows go down: ([^.]*)\.", text, re.MULTILINE)
    return [re.findall(r"\w+", floor) for floor in arrows.split("→")]


def imported(path: Path) -> Iterator[str]:
    """The modules of npu_assay that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                found = [name.name for name in names]
            case ast.ImportFrom(module=str(module), names=names):
                found = [f"{module}.{name.name}" for name in names]
            case _:
                continue
        yield from (name for name in found if name.startswith("npu_assay."))


def upward(package: Path, rooms: Sequence[Sequence[str]]) -> list[str]:
    """Every import that goes up, or to a neighbour; what stands in no room is below them all."""
    level = {room: number for number, floor in enumerate(rooms) for room in floor}
    found = []
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        if room in APART:
            continue
        for module in imported(path):
            other = module.split(".")[1]
            if other != room and level.get(other, len(rooms)) <= level.get(room, len(rooms) - 1):
                found.append(f"{path.relative_to(package)} imports {module}")
    return found


def test_every_room_stands_in_the_line_of_arrows():
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - APART
    assert {room for floor in floors() for room in floor} - {"cli"} == rooms


def test_no_import_goes_up():
    assert upward(PACKAGE, floors()) == []


def test_an_import_that_goes_up_or_sideways_is_found(tmp_path):
    files = {
        "claims/a.py": "from npu_assay.evidence.b import c\nfrom npu_assay import claims",
        "evidence/b.py": "def f():\n    from npu_assay.claims import a",
        "report/c.py": "import npu_assay.comparison.d",
        "errors.py": "from npu_assay import source",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert upward(tmp_path, floors()) == [
        "errors.py imports npu_assay.source",
        "evidence/b.py imports npu_assay.claims.a",
        "report/c.py imports npu_assay.comparison.d",
    ]
