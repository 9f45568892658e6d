"""The edit of triton-ascend 3.2.0 that removes `set_device_limit`, as 3.2.1 and later have it.

Upstream took it out on release/3.2.x (triton-ascend e8c161c28) and on main (489b1bf46); the helper library
that holds it, npu_utils.cpp, is compiled at run time under a name made from its source, so editing the
installed files is enough. What goes is found by its name and structure, and the result must be, byte for
byte, the known one.
"""

import ast
import hashlib
import py_compile
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

from npu_assay.environment.record_repair import repair_record
from npu_assay.errors import UnusableError

#: The version whose files are known.
VERSION = "3.2.0"

#: What must not be anywhere in the triton tree afterwards.
LEFT_OVERS = re.compile(rb"set_device_limit|setDeviceLimit|rtDeviceSetLimit|RT_LIMIT_TYPE_")


@dataclass(frozen=True)
class Edit:
    """One file: where it is below site-packages, its sha256 before and after, and what removes the code."""

    path: str
    before: str
    after: str
    remove: Callable[[str], str]


def without_python_function(source: str, name: str) -> str:
    """`source` without the function `name`, its decorators and the blank line above it. Raises ValueError."""
    found = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef) and n.name == name]
    if len(found) != 1:
        raise ValueError(f"expected one function {name}, found {len(found)}")
    function = found[0]
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)]) - 1
    lines = source.splitlines(keepends=True)
    if first and not lines[first - 1].strip():
        first -= 1
    return "".join(lines[:first] + lines[function.end_lineno :])


def closing(source: str, opening: int) -> int:
    """The index of the bracket that closes the one at `opening` in C++ source. Raises ValueError.

    Brackets in comments, strings and character literals don't count.
    """
    pairs = {"(": ")", "{": "}", "[": "]"}
    expected: list[str] = []
    for token in _TOKEN.finditer(source, opening):
        text = token.group()
        if text in pairs:
            expected.append(pairs[text])
        elif text in pairs.values():
            if expected.pop() != text:
                raise ValueError(f"unbalanced {text!r} at offset {token.start()}")
            if not expected:
                return token.start()
    raise ValueError(f"nothing closes the bracket at offset {opening}")


_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[(){}\[\]]""", re.DOTALL)


def without_cpp_variable(source: str, name: str) -> str:
    """`source` without the definition `... name = {...};` and the blank line below. Raises ValueError."""
    start = _only(rf"\b{name}\s*=\s*(?=\{{)", source, f"definition of {name}")
    end = closing(source, start.end())
    semicolon = re.compile(r"\s*;").match(source, end + 1)
    if semicolon is None:
        raise ValueError(f"no ';' after the definition of {name}")
    return _without_lines(source, start.start(), semicolon.end(), blank_below=True)


def without_cpp_function(source: str, name: str) -> str:
    """`source` without the definition of the function `name` and the blank line below. Raises ValueError."""
    start = _only(rf"\b{name}\s*(?=\()", source, f"function {name}")
    body = re.compile(r"\s*(?=\{)").match(source, closing(source, start.end()) + 1)
    if body is None:
        raise ValueError(f"{name} is declared, not defined")
    return _without_lines(source, start.start(), closing(source, body.end()) + 1, blank_below=True)


def without_method_entry(source: str, name: str) -> str:
    """`source` without the entry `{"name", ...},` of a PyMethodDef table. Raises ValueError."""
    start = _only(rf'\{{\s*"{name}"', source, f"method entry {name}")
    end = closing(source, start.start()) + 1
    comma = re.compile(r"\s*,").match(source, end)
    return _without_lines(source, start.start(), comma.end() if comma else end, blank_below=False)


def _only(pattern: str, source: str, what: str) -> re.Match[str]:
    found = list(re.finditer(pattern, source))
    if len(found) != 1:
        raise ValueError(f"expected one {what}, found {len(found)}")
    return found[0]


def _without_lines(source: str, start: int, end: int, *, blank_below: bool) -> str:
    """`source` without the whole lines from `start` to `end`, which must hold nothing else behind `end`."""
    first = source.rfind("\n", 0, start) + 1
    last = source.find("\n", end) + 1 or len(source)
    if source[end:last].strip():
        raise ValueError(f"more than expected on the line: {source[end:last].strip()!r}")
    if blank_below:
        blank = re.compile(r"[ \t]*\n").match(source, last)
        last = blank.end() if blank else last
    return source[:first] + source[last:]


def _edit_driver(source: str) -> str:
    return without_python_function(source, "set_device_limit")


def _edit_npu_utils(source: str) -> str:
    source = without_cpp_variable(source, "LimitTypeMap")
    source = without_cpp_function(source, "setDeviceLimit")
    return without_method_entry(source, "set_device_limit")


#: The known contents: those of the triton_ascend 3.2.0 wheel (both architectures), and of upstream's own
#: removal.
EDITS = (
    Edit(
        path="triton/backends/ascend/driver.py",
        before="b2411cfe3ab22845a06d9f0f29e929ea03611c77505f5c21e300e60212a150b6",
        after="3942188b279b331b82abece2a59b4837cf8fb5d5ab894840876533c7478e297b",
        remove=_edit_driver,
    ),
    Edit(
        path="triton/backends/ascend/npu_utils.cpp",
        before="2d6e58513486c70e47a8a4149418f750f59568ffa9feb2c45ba3479016554f53",
        after="6bd908f6e53c8ae243a44def9af8a3706034fcbab7cc627658b6742a3f609140",
        remove=_edit_npu_utils,
    ),
)


def apply(site_packages: Path, edits: tuple[Edit, ...] = EDITS) -> bool:
    """Edit the installed triton-ascend, repair its RECORD and check that nothing is left.

    Returns whether it changed anything. Does nothing when it is done already. Raises UnusableError, before
    anything is written, for a file whose content is not known.
    """
    pending = {edit: edited for edit in edits if (edited := _edited(site_packages, edit)) is not None}
    for edit, content in pending.items():
        path = site_packages / edit.path
        path.write_bytes(content)
        if path.suffix == ".py" and Path(cache_from_source(str(path))).exists():
            py_compile.compile(str(path), doraise=True)
    repair_record(site_packages, "triton-ascend", [edit.path for edit in edits])
    if left := left_overs(site_packages / "triton"):
        raise UnusableError(
            f"triton-ascend: the edit leaves {LEFT_OVERS.pattern.decode()} in {', '.join(left)}"
        )
    return bool(pending)


def _edited(site_packages: Path, edit: Edit) -> bytes | None:
    """The new content of a file, or None when it has it already."""
    path = site_packages / edit.path
    if not path.is_file():
        raise UnusableError(
            f"{path}: not there; triton-ascend {VERSION} must be installed before it is edited"
        )
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found == edit.after:
        return None
    if found != edit.before:
        raise UnusableError(
            f"{path}: sha256 {found}, expected {edit.before} (to edit) or {edit.after} (edited); not touched"
        )
    try:
        edited = edit.remove(content.decode()).encode()
    except ValueError as error:
        raise UnusableError(f"{path}: {error}") from error
    if (result := hashlib.sha256(edited).hexdigest()) != edit.after:
        raise UnusableError(f"{path}: the edit gives sha256 {result}, expected {edit.after}; not touched")
    return edited


def left_overs(tree: Path) -> list[str]:
    """The files below `tree` that still name what was removed, as sorted relative paths."""
    return sorted(
        path.relative_to(tree).as_posix()
        for path in tree.rglob("*")
        if path.is_file() and LEFT_OVERS.search(path.read_bytes())
    )
