"""A small vllm-ascend, as files, as a git checkout, as a source distribution and as a wheel."""

import io
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

FILES = {
    "setup.py": "from setuptools import setup\nsetup()\n",
    "CMakeLists.txt": "project(vllm_ascend)\n",
    "csrc/ops.cpp": "int one() { return 1; }\n",
    "csrc/build.sh": "#!/bin/sh\n",
    "vllm_ascend/__init__.py": "",
    "vllm_ascend/handler.py": "".join(f"line {number}\n" for number in range(1, 41)),
    "tests/ut/test_handler.py": "def test_it(): pass\n",
}
EXECUTABLE = "csrc/build.sh"
WHEEL = "vllm_ascend-0.18.0-py3-none-any.whl"
SDIST = "vllm_ascend-0.18.0.tar.gz"
METADATA = "Metadata-Version: 2.1\nName: vllm-ascend\nVersion: 0.18.0\n"


def plant(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    """Write the files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        path.chmod(0o755 if name == EXECUTABLE else 0o644)
    return folder


def git(folder: Path, *arguments: str) -> str:
    """Run git as a user would."""
    who = {f"GIT_{one}_{what}": "t" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    variables = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    ended = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *arguments],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def commit(folder: Path, message: str = "change") -> str:
    """Commit all that is there; the commit's id."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def checkout(folder: Path, files: Mapping[str, str] = FILES, tag: str | None = "v0.18.0") -> Path:
    """A git checkout of the files, committed and tagged."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    plant(folder, files)
    commit(folder, "base")
    if tag:
        git(folder, "tag", tag)
    return folder


def sdist(path: Path, files: Mapping[str, str] = FILES, top: str = "vllm_ascend-0.18.0") -> Path:
    """A source distribution."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in {"PKG-INFO": METADATA, **files}.items():
            add(archive, f"{top}/{name}", text, mode=0o755 if name == EXECUTABLE else 0o644)
    return path


def add(archive: tarfile.TarFile, name: str, text: str = "", **facts: object) -> None:
    """One member of a tar, with any facts of it changed."""
    member = tarfile.TarInfo(name)
    member.size = len(text)
    for fact, value in facts.items():
        setattr(member, fact, value)
    archive.addfile(member, io.BytesIO(text.encode()))


def wheel(path: Path, files: Mapping[str, str] | None = None) -> Path:
    """A wheel."""
    own = {name: text for name, text in FILES.items() if name.startswith("vllm_ascend/")}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vllm_ascend-0.18.0.dist-info/METADATA", METADATA)
        for name, text in (own if files is None else files).items():
            archive.writestr(name, text)
    return path


def files_below(folder: Path) -> dict[str, str]:
    """Name -> text, of all files below a folder, but git's own."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }
