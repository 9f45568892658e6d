"""Wheels of a vllm-ascend: made by pip from a tree, put together of Python and compiled parts, installed.

A build's wheel is always put together of the two, also where both were just made: the same sources and the
same compiled parts give the same wheel, to the byte.
"""

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from npu_assay.environment.folder import VenvFolder
from npu_assay.environment.pip import pip_command
from npu_assay.environment.record import record_row
from npu_assay.errors import AssayError, UnusableError
from npu_assay.logged import pip_error, run_logged
from npu_assay.source.native import is_compiled

_TIME = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644


@dataclass(frozen=True)
class Member:
    """A file in a wheel."""

    name: str
    data: bytes
    mode: int = _MODE


def build_wheel(
    venv: VenvFolder, tree: Path, into: Path, variables: Mapping[str, str], log: Path, doing: str
) -> Path:
    """Have pip make the wheel of `tree`, a copy that may be written to, without network and isolation.

    Raises AssayError with the first error of compiler, CMake or pip, and where the full log is.
    """
    try:
        run_logged(
            pip_command(
                venv.python,
                *("wheel", "-v", "--no-deps", "--no-build-isolation", "--no-index"),
                *("--wheel-dir", str(into), str(tree)),
            ),
            log,
            doing=doing,
            variables=variables,
            telling=build_error,
        )
    except UnusableError as error:  # the tree's fault, not the environment's
        raise AssayError(str(error)) from error
    made = sorted(into.glob("*.whl"))
    if len(made) != 1:
        raise AssayError(f"{doing}: pip made {len(made)} wheels, expected one; the full log is {log}")
    return made[0]


#: Of compilers, linkers and CMake, of Python's exceptions, and of csrc/build.sh.
_ERROR = re.compile(r"\b(?:fatal )?error: |CMake Error|undefined reference|Error: ")


def build_error(output: str) -> str:
    """The first error of the tools below pip, of which pip itself only says that there was one."""
    lines = [line.strip() for line in output.splitlines()]
    for number, line in enumerate(lines):
        if _ERROR.search(line) and "subprocess-exited-with-error" not in line:
            if "CMake Error" in line and line.endswith(":"):  # what it is stands below
                line = " ".join([line, *(more for more in lines[number + 1 : number + 3] if more)])
            return line
    return pip_error(output)


def members_of(wheel: Path) -> Iterator[Member]:
    """The files of a wheel, in its order."""
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                mode = info.external_attr >> 16 & 0o777
                yield Member(info.filename, archive.read(info), mode or _MODE)


def tag_of(wheel: Path) -> str:
    """The tag of a wheel that pip made: the last three parts of its name."""
    return "-".join(wheel.stem.split("-")[-3:])


def compiled_members(wheel: Path) -> list[Member]:
    """What a compiler has made of it."""
    return [member for member in members_of(wheel) if is_compiled(member.name)]


def read_parts(folder: Path) -> list[Member]:
    """Compiled parts that are kept in a folder."""
    return [
        Member(path.relative_to(folder).as_posix(), path.read_bytes(), path.stat().st_mode & 0o777)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def write_parts(members: Iterable[Member], folder: Path) -> None:
    """Keep compiled parts in a folder."""
    for member in members:
        path = folder / member.name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise UnusableError(f"the wheel that was built names {member.name!r}, which leads out of it")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(member.data)
        path.chmod(member.mode)


def put_together(python: Path, parts: Iterable[Member], tag: str, into: Path) -> Path:
    """A wheel of the Python of one wheel and compiled parts, in the folder `into`; returns its path."""
    dist_info = ""
    members: dict[str, Member] = {}
    for member in members_of(python):
        top, _, name = member.name.partition("/")
        if top.endswith(".dist-info"):
            dist_info = top
            if name == "WHEEL":
                member = Member(member.name, _platform_wheel(member.data, tag), member.mode)
        if not is_compiled(member.name):
            members[member.name] = member
    if not dist_info:
        raise UnusableError(f"{python}: no dist-info in it, so it is no wheel")
    members |= {part.name: part for part in parts}
    record = f"{dist_info}/RECORD"
    members[record] = Member(record, _record([m for m in members.values() if m.name != record], record))
    name_and_version = dist_info.removesuffix(".dist-info")
    made = into / f"{name_and_version}-{tag}.whl"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, _TIME)
            info.external_attr = (0o100000 | members[name].mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, members[name].data)
    return made


def _platform_wheel(data: bytes, tag: str) -> bytes:
    """The metadata file WHEEL of one that is for a platform."""
    lines = [
        line
        for line in data.decode().splitlines()
        if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))
    ]
    return ("\n".join([*lines, "Root-Is-Purelib: false", f"Tag: {tag}"]) + "\n").encode()


def _record(members: Iterable[Member], record: str) -> bytes:
    rows = sorted(record_row(member.name, member.data) for member in members)
    return "".join([*rows, record_row(record)]).encode()


def install_wheel(venv: VenvFolder, wheel: Path, site: Path, variables: Mapping[str, str], log: Path) -> None:
    """Have pip install one wheel into `site`, a folder for PYTHONPATH. Raises UnusableError as pip says."""
    run_logged(
        pip_command(venv.python, "install", "--no-deps", "--no-index", "--target", str(site), str(wheel)),
        log,
        doing=f"installing {wheel.name}",
        variables=variables,
        telling=pip_error,
    )
