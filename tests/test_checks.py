"""What must be clean: format, lint and types, and that no file names a machine or a package index's host."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from committed import committed

from npu_assay.cann.emulated import EmulatedProvider
from npu_assay.environment.environment import Environment
from npu_assay.project import EMUCANN, ROOT

TOOLS = Path(sys.executable).parent
CXX = sorted(
    path
    for folder in (EMUCANN, ROOT / "tests" / "emucann")
    for path in folder.rglob("*")
    if path.suffix in {".h", ".cpp"}
)


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one of the venv's tools in the checkout."""
    return subprocess.run(
        [TOOLS / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("command", "bad"),
    [
        ("ruff check", "import os\n"),
        ("ruff format --check", "x = [1,2]\n"),
        ("mypy --strict", "def f(x): return x\n"),
    ],
    ids=["ruff check", "ruff format", "mypy"],
)
def test_python_is_clean(command: str, bad: str, tmp_path: Path) -> None:
    everything = [] if command.startswith("mypy") else ["."]  # mypy has its files from pyproject.toml
    here = run(*command.split(), *everything)
    assert here.returncode == 0, here.stdout + here.stderr
    (tmp_path / "bad.py").write_text(bad)
    assert run(*command.split(), tmp_path / "bad.py").returncode == 1


def test_shell_is_clean(tmp_path: Path) -> None:
    shebangs = (b"#!/bin/sh\n", b"#!/usr/bin/env bash\n")
    scripts = [path for path in committed() if path.read_bytes().startswith(shebangs)]
    images = {ROOT / "docker" / "entrypoint", ROOT / "docker" / "missing"}
    assert {ROOT / "assay", ROOT / ".ci" / "run", *images} <= set(scripts)
    here = run("shellcheck", *scripts)
    assert here.returncode == 0, here.stdout
    (tmp_path / "bad.sh").write_text("#!/bin/sh\nrm $1/*\n")
    assert run("shellcheck", tmp_path / "bad.sh").returncode == 1


def test_cxx_is_formatted(tmp_path: Path) -> None:
    assert CXX
    here = run("clang-format", "--dry-run", "-Werror", *CXX)
    assert here.returncode == 0, here.stderr[:4000]
    (tmp_path / "bad.cpp").write_text("int   f( ) ;\n")
    style = f"--style=file:{ROOT / '.clang-format'}"
    assert run("clang-format", style, "--dry-run", "-Werror", tmp_path / "bad.cpp").returncode == 1


@pytest.mark.environment
def test_cxx_has_none_of_the_faults_that_clang_tidy_finds(environment: Environment, tmp_path: Path) -> None:
    provider = environment.provider
    assert isinstance(provider, EmulatedProvider)
    database = provider.folder(environment.target) / "build"
    entries = json.loads((database / "compile_commands.json").read_text())
    files = [entry["file"] for entry in entries if "/src/emucann/" in entry["file"]]
    assert files
    config = f"--config-file={ROOT / '.clang-tidy'}"
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:  # minutes of work, a process a file
        ended = list(pool.map(lambda file: run("clang-tidy", config, "--quiet", "-p", database, file), files))
    assert [one.stdout for one in ended if one.returncode != 0] == []
    (tmp_path / "bad.cpp").write_text("int *f() { return 0; }\n")
    assert run("clang-tidy", config, "--quiet", tmp_path / "bad.cpp", "--", "-std=c++17").returncode == 1


# Written in pieces, so that this file does not name them either.
_HOSTS = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("deb", "debian", "org"),
    ("npmjs", "org"),
    ("npmjs", "com"),
)
HOSTS = re.compile(b"|".join(re.escape(".".join(parts)).encode() for parts in _HOSTS))
#: Folders of the machine that something was written on. `/home/a` and such in tests are nobody's.
MACHINE = re.compile(rb"(?<![\w.$}/])/(?:" + b"|".join([b"wo" + b"rk", b"ro" + b"ot"]) + rb")/[\w.]")


@pytest.mark.parametrize(
    ("pattern", "bad"),
    [
        (HOSTS, b"https://files." + b"pythonhosted" + b".org/x"),
        (MACHINE, b"see /wo" + b"rk/main/x"),
        (MACHINE, b"'/ro" + b"ot/.cache'"),
    ],
)
def test_no_file_names_an_index_host_or_a_machine(pattern: re.Pattern[bytes], bad: bytes) -> None:
    assert pattern.search(bad)
    assert not pattern.search(b"$NPU_ASSAY_ARCHIVE/work/stage {root}/root/x run/work/x network/rooted")
    found = [
        f"{path.relative_to(ROOT)}: {match.group().decode()}"
        for path in committed()
        if (match := pattern.search(path.read_bytes()))
    ]
    assert found == []
