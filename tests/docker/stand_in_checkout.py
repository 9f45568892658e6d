"""A copy of what images are built from, with locks whose every file the tests have made.

`compiled` has its vllm-ascend at a commit, so that it is compiled in the image; `wheels` has a wheel of it.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from build_bench import TREE, write
from committed import copy_committed
from planted_ascend import B250
from stand_in_packages import StandIn
from stand_in_wheels import Distribution, ascend_sources, components, requirements, write_files

from npu_assay.cann.agreement import Part
from npu_assay.environment.fetched import LAUNCHER
from npu_assay.source.git import git
from npu_assay.source.location import GitRef, parse_url
from npu_assay.source.offline import gather_commit

ARCH = platform.machine()
#: Nobody answers there: what is built from it was gathered before.
REPOSITORY = "https://vllm-ascend.invalid/vllm-ascend"
#: Where the installers note that they ran, in the image.
CALLS = Path("/usr/local/Ascend/calls")
#: Of every package, so that a layer that has one of them can be told by its size.
PAYLOAD = 4 << 20
PACKAGES = (
    StandIn(Part.TOOLKIT, arch=ARCH, payload=PAYLOAD),
    StandIn(Part.OPS, arch=ARCH, payload=PAYLOAD),
    StandIn(Part.NNAL, build="B160", arch=ARCH, payload=PAYLOAD),
)
OTHER_ARCH = "aarch64" if ARCH == "x86_64" else "x86_64"

_HEAD = """\
name = "{name}"
summary = "stand-ins"
python = "3.11.6"
disk_mib = 100
hardware_only = "its packages are stand-ins"

[requirements]
file = "{name}.requirements.txt"
sha256 = "{sha256}"
"""
_INDEX = """
[components.{name}]
version = "{version}"
source = "index"
sha256 = {{ {hashes} }}
"""
_GIT = """
[components.vllm-ascend]
version = "0.18.0"
source = "git"
repository = "{repository}"
commit = "{commit}"
"""
_PACKAGE = """
[components.{name}]
version = "9.0.0"
build = "{build}"
source = "run-packages"
file = "{file}"
sha256 = {{ {arch} = "{sha256}", {other} = "{elsewhere}" }}
"""
_NAMES = {Part.TOOLKIT: "cann", Part.OPS: "cann-ops", Part.NNAL: "nnal"}


@dataclass(frozen=True)
class Checkout:
    """The copy, and the two folders that its builds are given."""

    root: Path
    fetched: Path
    packages: Path
    """The vendor's packages, whole."""
    commit: str
    """Of the vllm-ascend that is compiled."""
    distributions: Mapping[str, Distribution]

    def write_lock(self, name: str, packages: Path | None = None) -> None:
        """Write a lock; its hashes of packages are those of the files in that folder."""
        pins = "".join(one.requirement for one in requirements())
        text = _HEAD.format(name=name, sha256=hashlib.sha256(pins.encode()).hexdigest())
        for component in self.distributions.values():
            if component.name == "vllm-ascend" and name == "compiled":
                text += _GIT.format(repository=REPOSITORY, commit=self.commit)
            else:
                key = "sdist" if component.file.endswith(".tar.gz") else ARCH
                hashes = f'{key} = "{component.sha256}"'
                if component.name == "vllm-ascend":
                    hashes += f', sdist = "{ascend_sources().sha256}"'
                text += _INDEX.format(name=component.name, version=component.version, hashes=hashes)
        for package in PACKAGES:
            text += _package(package, packages or self.packages)
        locks = self.root / "ci/environments"
        (locks / f"{name}.requirements.txt").write_text(pins)
        (locks / f"{name}.toml").write_text(text)

    def write_bake_file(self) -> None:
        """Write the bake file of the locks as they are, as ci/bake does."""
        variables = {**os.environ, "PYTHONPATH": str(self.root / "src")}
        subprocess.run([sys.executable, "-m", "npu_assay.docker.bake"], env=variables, check=True)


def make_checkout(folder: Path, launcher: Path) -> Checkout:
    """Make the copy with both locks, and what their builds are given.

    `launcher` is that folder of one that `env fetch` has filled.
    """
    root = folder / "checkout"
    copy_committed(root)
    distributions = components()
    write_files(folder / "fetched", *distributions.values(), ascend_sources(), *requirements())
    shutil.copytree(launcher, folder / "fetched" / LAUNCHER)
    commit = _gather(folder / "vllm-ascend", folder / "fetched")
    packages = folder / "packages"
    write_packages(packages)
    checkout = Checkout(root, folder / "fetched", packages, commit, distributions)
    checkout.write_lock("compiled")
    checkout.write_lock("wheels")
    checkout.write_bake_file()
    return checkout


def write_packages(folder: Path, *instead: StandIn) -> None:
    """Write the vendor's three packages, but for those of a part that `instead` has."""
    folder.mkdir()
    for package in ({package.part: package for package in (*PACKAGES, *instead)}).values():
        package.write(folder, calls=CALLS)


def _package(package: StandIn, folder: Path) -> str:
    build = f"9.0.0.{package.build}" if package.part is Part.NNAL else B250
    return _PACKAGE.format(
        name=_NAMES[package.part],
        build=build,
        file=package.file.replace(ARCH, "{architecture}"),
        arch=ARCH,
        sha256=hashlib.sha256((folder / package.file).read_bytes()).hexdigest(),
        other=OTHER_ARCH,
        elsewhere=hashlib.sha256(other_architecture(package)).hexdigest(),
    )


def other_architecture(package: StandIn) -> bytes:
    """What the lock knows as the same package for the other architecture."""
    return f"{package.file} for {OTHER_ARCH}".encode()


def _gather(repository: Path, fetched: Path) -> str:
    """Commit the bench's small vllm-ascend, the same commit every time, and have it in `fetched`."""
    write(repository, TREE)
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _WHO.items()}
    git(["init", "--quiet"], folder=repository)
    git(["add", "--all"], folder=repository)
    git(["commit", "--quiet", "--message", "first"], folder=repository, variables=who)
    commit = git(["rev-parse", "HEAD"], folder=repository).decode().strip()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_COUNT", "1")
        patch.setenv("GIT_CONFIG_KEY_0", f"url.{repository.as_uri()}.insteadOf")
        patch.setenv("GIT_CONFIG_VALUE_0", REPOSITORY)
        assert gather_commit(GitRef(parse_url(REPOSITORY), commit), fetched, lambda line: None) == ()
    return commit


_WHO = {"NAME": "somebody", "EMAIL": "somebody@example.org", "DATE": "2026-11-30T00:00:00Z"}
