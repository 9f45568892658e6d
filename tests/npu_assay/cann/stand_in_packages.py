"""Stand-ins for the vendor's run packages: a shell script in makeself's layout with a real tar.gz behind it.

Its installer lays out what the vendor's does below --install-path, and notes each call in a file. It refuses
what the vendor's would: ops without a toolkit, NNAL without CANN's variables.
"""

import gzip
import hashlib
import io
import random
import tarfile
from dataclasses import dataclass
from pathlib import Path

from planted_ascend import ARCH, B250, atb_info, ops_info, toolkit_info

from npu_assay.cann.agreement import Expected, Part
from npu_assay.cann.discovery import Places
from npu_assay.cann.run_packages.package import RunPackage, Wanted
from npu_assay.cann.run_packages.sources import Sources

HEADER = """\
#!/bin/bash
# This script was generated using Makeself 2.5.0
label="ASCEND_RUN_PACKAGE"
filesizes="{size}"
skip="{lines}"
unpacked=$(mktemp -d "${{TMPDIR:-/tmp}}/selfgz.XXXXXX")
trap 'rm -rf "$unpacked"' EXIT
if [ "$1" = --info ]; then
  echo Uncompressed size: {kib} KB
fi
tail -n "+$((skip + 1))" "$0" | tar -xz -C "$unpacked"
(cd "$unpacked" && bash ./install.sh "$@")
exit $?
"""

COMMON = """\
root=
for word in "$@"; do
  case $word in --install-path=*) root=${{word#*=}} ;; esac
done
cann=$root/cann-{version}
echo "{file} $*" >>"{calls}"
echo "ASCEND_HOME_PATH=$ASCEND_HOME_PATH ASCEND_OPP_PATH=$ASCEND_OPP_PATH" \\
  "LD_LIBRARY_PATH=$LD_LIBRARY_PATH TMPDIR=$TMPDIR" >>"{calls}.variables"
echo "[Toolkit] [20261129-10:00:00] [INFO] LogFile:/var/log/ascend_seclog/ascend_toolkit_install.log"
error() {{ echo "[Toolkit] [20261129-10:00:01] [ERROR] $*"; exit 3; }}
{first}
"""

INSTALL = {
    Part.TOOLKIT: """\
mkdir -p "$cann/{arch}-linux/lib64" "$root/ascend-toolkit"
{middle}
cat >"$cann/{arch}-linux/ascend_toolkit_install.info" <<END
{info}END
echo "export ASCEND_HOME_PATH=$cann ASCEND_TOOLKIT_HOME=$cann" >"$cann/set_env.sh"
ln -sfn "cann-{version}" "$root/cann"
ln -sfn ../cann "$root/ascend-toolkit/latest"
""",
    Part.OPS: """\
[ -d "$cann/{arch}-linux" ] || error "no toolkit in $cann"
{middle}
cat >"$cann/{arch}-linux/ascend_ops_install.info" <<END
{info}END
""",
    Part.NNAL: """\
[ "$ASCEND_HOME_PATH" -ef "$cann" ] || error "source the set_env.sh of CANN first"
atb=$root/nnal/atb/{version}
mkdir -p "$atb/atb/cxx_abi_0" "$atb/atb/cxx_abi_1"
{middle}
cat >"$atb/version.info" <<END
{info}END
echo "export ATB_HOME_PATH=$atb/atb/cxx_abi_1" | tee "$atb/atb/set_env.sh" >"$root/nnal/atb/set_env.sh"
ln -sfn {version} "$root/nnal/atb/latest"
""",
}
NAMES = {
    Part.TOOLKIT: "Ascend-cann-toolkit_{version}_linux-{arch}.run",
    Part.OPS: "Ascend-cann-910b-ops_{version}_linux-{arch}.run",
    Part.NNAL: "Ascend-cann-nnal_{version}_linux-{arch}.run",
}


@dataclass(frozen=True)
class StandIn:
    """One package."""

    part: Part
    version: str = "9.0.0"
    build: str = B250
    """An innerversion; of NNAL its number."""
    arch: str = ARCH
    first: str = ""
    """Shell commands before anything is laid out: `error` ends it."""
    middle: str = ""
    """Shell commands when half is laid out."""
    payload: int = 0
    """Bytes that are packed besides."""

    @property
    def file(self) -> str:
        return NAMES[self.part].format(version=self.version, arch=self.arch)

    def write(self, folder: Path, calls: Path | None = None) -> Path:
        """Write the package; its calls are noted in `calls`, else in `<folder>/calls`."""
        data = self._archive(calls or folder / "calls")
        kib = -(-len(data) // 1024)
        lines = HEADER.count("\n")
        path = folder / self.file
        path.write_bytes(HEADER.format(size=len(data), lines=lines, kib=kib).encode() + data)
        return path

    def _archive(self, calls: Path) -> bytes:
        home = Path("$cann")
        info = {
            Part.TOOLKIT: toolkit_info(self.version, self.build, home, self.arch),
            Part.OPS: ops_info(self.version, self.build, home, self.arch),
            Part.NNAL: atb_info(self.version, self.build, self.arch),
        }[self.part]
        values = {"version": self.version, "arch": self.arch, "info": info, "middle": self.middle}
        text = COMMON.format(version=self.version, file=self.file, calls=calls, first=self.first)
        script = (text + INSTALL[self.part].format(**values)).encode()
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            payload = random.Random(0).randbytes(self.payload)  # which gzip makes no smaller
            for name, data in (("install.sh", script), ("payload", payload)):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        return gzip.compress(packed.getvalue(), mtime=0)  # the same bytes every time


ALL = (StandIn(Part.TOOLKIT), StandIn(Part.OPS), StandIn(Part.NNAL, build="B160"))


@dataclass
class Vendor:
    """A folder of packages, a root to install below, and what a lock says of them."""

    folder: Path
    root: Path

    def write(self, *packages: StandIn) -> None:
        """Write these packages, else all three."""
        self.folder.mkdir(exist_ok=True)
        for package in packages or ALL:
            package.write(self.folder)

    @property
    def places(self) -> Places:
        nowhere = self.folder / "nowhere"
        return Places(self.root, usual=nowhere, host_info=nowhere, system_libraries=(), machine=ARCH)

    @property
    def sources(self) -> Sources:
        return Sources.of([str(self.folder)], self.folder / "downloads")

    def wanted(self, **sha256: str | None) -> Wanted:
        """What a lock says, with the hashes of the files as they are now, or as given by the part's name."""
        packages = []
        for package in ALL:
            path = self.folder / package.file
            own = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "0" * 64
            build = f"{package.version}.{package.build}" if package.part is Part.NNAL else package.build
            recorded = sha256.get(package.part.value, own)
            packages.append(
                RunPackage(package.part, package.version, build, package.file, recorded, elsewhere={})
            )
        expected = Expected("9.0.0", B250, "9.0.0", B250, "9.0.0", "9.0.0.B160", "npu-assay cann install it")
        return Wanted(tuple(packages), expected, ARCH, "npu-assay env lock it --record")

    @property
    def calls(self) -> list[str]:
        """The installers that ran, each with its options."""
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def variables(self) -> list[str]:
        """Some variables of each."""
        return (self.folder / "calls.variables").read_text().splitlines()


def snapshot(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Every file and link below a folder, with its time and its bytes or target."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mtime_ns,
            str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else "",
        )
        for path in sorted(folder.rglob("*"))
    }
