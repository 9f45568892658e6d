"""Edits without which a vllm-ascend does not compile against the torch and the CANN that are here.

Each finds its place by name and structure, changes it in the copy that is built (never in the user's tree),
and leaves a note with the file's sha256 before and after. A tree that has the change already, or is of a
form without the place, is left alone; one where the place can't be told for certain is an error.

- The torch version. CMakeLists.txt stops at any torch but the one it was written for: 0.18.0 at 2.10, which
  upstream moved to in vllm-ascend#9128 (0.20.2rc1). What else that change needs of the sources was not told;
  whether the result runs right is what the run's stages prove.
- `<arch>-linux/pkg_inc`. CANN's headers moved some of theirs there with 8.5; upstream's releases/v0.18.0 got
  the folder for two more targets in vllm-ascend#11684. That was never compiled by us against a real CANN.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from npu_assay.errors import UnusableError


@dataclass(frozen=True)
class Edited:
    """A file that was changed."""

    path: str
    """Below the tree."""
    before: str
    after: str
    """sha256."""
    why: str


@dataclass(frozen=True)
class Edit:
    """A change of one file."""

    path: str
    why: str
    change: Callable[[str], str]
    """Gives the new content, the same where nothing is to do. Raises ValueError: what was looked for."""


@dataclass(frozen=True)
class Surroundings:
    """What a tree is to be compiled against."""

    torch: str
    """The installed version, such as 2.10.0+cpu."""
    has_pkg_inc: bool
    """Whether the toolkit has <arch>-linux/pkg_inc."""


def edits_for(here: Surroundings) -> Iterator[Edit]:
    """The edits that a tree may need here."""
    yield Edit(
        "CMakeLists.txt",
        f"the installed torch is {here.torch}",
        lambda text: with_torch_version(text, here.torch),
    )
    if here.has_pkg_inc:
        for path, target in _WITHOUT_PKG_INC:
            yield Edit(
                path,
                f"this CANN has <arch>-linux/pkg_inc, which {target} does not look into",
                lambda text, target=target: with_pkg_inc(text, target),  # type: ignore[misc]
            )


#: Where vllm-ascend#11684 put it, and the target.
_WITHOUT_PKG_INC = (
    ("csrc/cmake/intf_pub.cmake", "intf_pub"),
    ("csrc/utils/CMakeLists.txt", "ops_utils_tiling_headers"),
)
_PKG_INC = "$<BUILD_INTERFACE:${ASCEND_CANN_PACKAGE_PATH}/${CMAKE_SYSTEM_PROCESSOR}-linux/pkg_inc>"


def apply_edits(tree: Path, here: Surroundings, *, write: bool = True) -> tuple[Edited, ...]:
    """Make in `tree`, a copy, the edits that it needs; nothing the second time. Without `write` only tell.

    Raises UnusableError, before anything is written, where a place can't be found unambiguously.
    """
    pending = [(edit, *changed) for edit in edits_for(here) if (changed := _changed(tree, edit))]
    if write:
        for edit, _, after in pending:
            (tree / edit.path).write_bytes(after)
    return tuple(
        Edited(edit.path, hashlib.sha256(before).hexdigest(), hashlib.sha256(after).hexdigest(), edit.why)
        for edit, before, after in pending
    )


def _changed(tree: Path, edit: Edit) -> tuple[bytes, bytes] | None:
    """The file's bytes before and after; None where there is no such file or nothing to do."""
    path = tree / edit.path
    if not path.is_file():
        return None
    before = path.read_bytes()
    try:
        after = edit.change(before.decode()).encode()
    except ValueError as error:
        raise UnusableError(
            f"{path}: {error}; npu-assay edits it because {edit.why}: change it yourself in the tree"
            " that you give with --vllm-ascend"
        ) from error
    return (before, after) if after != before else None


# --- what the edits do to CMake's text ---

_TOKEN = re.compile(r'#\[(?P<fence>=*)\[.*?\](?P=fence)\]|#[^\n]*|"(?:\\.|[^"\\])*"|[()]', re.DOTALL)

_TORCH_CHECK = re.compile(
    r"""(?P<before>\(\s*NOT\s+"?\$\{TORCH_VERSION\}"?\s+VERSION_EQUAL\s+"?)(?P<version>[0-9][0-9A-Za-z.+]*)(?="?\s*\))"""
)
#: Any other condition on it.
_TORCH_CONDITION = re.compile(r"\bif\s*\([^)]*TORCH_VERSION", re.IGNORECASE)


def with_torch_version(text: str, torch: str) -> str:
    """CMakeLists.txt that takes this torch, whose local part (+cpu) CMake's comparison does not look at.

    Raises ValueError where there is a check of TORCH_VERSION of another form, or more than one.
    """
    code = _without_comments(text)
    found = list(_TORCH_CHECK.finditer(code))
    if not found and not _TORCH_CONDITION.search(code):
        return text
    looked_for = 'if(NOT ${TORCH_VERSION} VERSION_EQUAL "...")'
    if len(found) != 1 or len(_TORCH_CONDITION.findall(code)) != 1:
        raise ValueError(f"looked for one {looked_for}, found {len(found)}")
    try:
        wanted = Version(torch).base_version
        if Version(found[0]["version"]) == Version(wanted):
            return text
    except InvalidVersion as error:
        raise ValueError(f"in {looked_for}: {error}") from error
    start, end = found[0].span("version")
    return text[:start] + wanted + text[end:]


def with_pkg_inc(text: str, target: str) -> str:
    """A CMake file in which the interface library `target` looks into <arch>-linux/pkg_inc too.

    Raises ValueError where the library is declared and its include folders are not set in one command.
    """
    code = _without_comments(text)
    if not re.search(rf"\badd_library\s*\(\s*{target}\s+INTERFACE\b", code):
        return text
    commands = list(re.finditer(rf"\btarget_include_directories\s*(?=\(\s*{target}\b)", code))
    if len(commands) != 1:
        raise ValueError(f"looked for one target_include_directories({target} ...), found {len(commands)}")
    opening = commands[0].end()
    closing = _closing(code, opening)
    if "pkg_inc" in code[opening:closing].lower():
        return text
    folder = code.rfind("${ASCEND_CANN_PACKAGE_PATH}", opening, closing)
    if folder < 0:
        raise ValueError(
            f"looked for ${{ASCEND_CANN_PACKAGE_PATH}} in target_include_directories({target} ...)"
        )
    start, end = text.rfind("\n", 0, folder) + 1, text.find("\n", folder) + 1
    if not start < folder < end <= closing or start <= opening:
        raise ValueError(f"looked for the folders of target_include_directories({target} ...) a line each")
    line = text[start:end]
    indent = line[: len(line) - len(line.lstrip())]
    ending = "\r\n" if line.endswith("\r\n") else "\n"
    return text[:end] + indent + _PKG_INC + ending + text[end:]


def _without_comments(text: str) -> str:
    """The text with spaces for comments, so that offsets stay."""

    def blank(token: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", token[0]) if token[0].startswith("#") else token[0]

    return _TOKEN.sub(blank, text)


def _closing(code: str, opening: int) -> int:
    """The offset of the bracket that closes the one at `opening`; strings don't count. Raises ValueError."""
    depth = 0
    for token in _TOKEN.finditer(code, opening):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            return token.start()
    raise ValueError("looked for the ')' of a command, which the file ends without")
