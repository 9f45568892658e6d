"""Tiny distributions under the names that an environment's components have, in the form of `env fetch`.

Each has what an installation looks for: libraries that can be loaded, modules that can be imported, a source
distribution that builds itself. setuptools is the real one, that of the Python that runs the tests.
"""

import gzip
import hashlib
import io
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from build_bench import SCM

from npu_assay.environment.fetched import FetchedFile, write_fetched

#: The C++ ABI of torch is told by the name that this function has in libc10.so (cann/cxx_abi.py).
_ERROR = "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
_LIBRARIES = {
    "torch/lib/libc10.so": f"void {_ERROR}(void) {{}}\n",
    "torch/lib/libtorch_global_deps.so": "int global_deps;\n",
    "torch/lib/libtorch_python.so": "int torch_python;\n",
    "torchvision/_C.so": "int torchvision;\n",
}
#: A build backend in the source distribution itself, which makes a wheel of one module.
_BACKEND = """\
import os, zipfile
facts = dict(line.split(": ") for line in open("PKG-INFO").read().splitlines())
module, version = facts["Name"].replace("-", "_"), facts["Version"]
def build_wheel(folder, config_settings=None, metadata_directory=None):
    if module == "vllm":
        assert os.environ["VLLM_TARGET_DEVICE"] == "empty", "expected the empty target"
        assert os.environ["VLLM_VERSION_OVERRIDE"] == version, "else it is named after the target"
    name, info = f"{module}-{version}-py3-none-any.whl", f"{module}-{version}.dist-info"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        archive.writestr(f"{module}/__init__.py", "")
        archive.writestr(f"{info}/METADATA", open("PKG-INFO").read())
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(f"{info}/RECORD", "")
    return name
"""
_PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@dataclass(frozen=True)
class Distribution:
    """A file as an index has it."""

    name: str
    version: str
    file: str
    data: bytes

    @property
    def sha256(self) -> str:
        """As locks write it."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def requirement(self) -> str:
        """pip's line."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}\n"


def components() -> dict[str, Distribution]:
    """One of every component that pip installs; vllm as a source distribution."""
    libraries = _compiled()
    torch = {name: data for name, data in libraries.items() if name.startswith("torch/")}
    vision = {name: data for name, data in libraries.items() if name.startswith("torchvision/")}
    made = (
        wheel("torch", "2.9.0", {"torch/__init__.py": b"__version__ = '2.9.0'\n", **torch}),
        wheel("torchvision", "0.24.0", {"torchvision/__init__.py": b"", **vision}),
        wheel(
            "torch-npu",
            "2.9.0.post2",
            {"torch_npu/__init__.py": b"import os\ncann = os.environ['ASCEND_HOME_PATH']\n"},
        ),
        wheel("triton-ascend", "3.2.1", {"triton/__init__.py": b""}),
        sdist("vllm", "0.18.0"),
        wheel("vllm-ascend", "0.18.0", {"vllm_ascend/__init__.py": b"def register(): ...\n"}),
    )
    return {one.name: one for one in made}


def ascend_sources() -> Distribution:
    """The source distribution of vllm-ascend, beside its wheel."""
    return sdist("vllm-ascend", "0.18.0")


def requirements() -> tuple[Distribution, ...]:
    """What builds in the environment: the plug-in's, and that of a vllm-ascend from its sources."""
    return (
        _repacked("setuptools"),
        wheel("setuptools-scm", "8.0", {"setuptools_scm.py": SCM.encode()}),
        wheel("pybind11", "2.0", {"pybind11/__init__.py": b""}),
    )


def write_files(folder: Path, *files: Distribution) -> None:
    """Write a folder as `env fetch` leaves it."""
    folder.mkdir()
    for one in files:
        (folder / one.file).write_bytes(one.data)
    write_fetched(
        folder,
        [
            FetchedFile(
                file=one.file, sha256=one.sha256, size=len(one.data), component=one.name, version=one.version
            )
            for one in files
        ],
    )


def wheel(name: str, version: str, files: Mapping[str, bytes]) -> Distribution:
    """A wheel of these files; the same bytes every time."""
    info = f"{name.replace('-', '_')}-{version}"
    members = {
        **files,
        f"{info}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    return _zipped(name, version, f"{info}.dist-info", members)


def sdist(name: str, version: str) -> Distribution:
    """A source distribution that builds itself; the same bytes every time."""
    packed = io.BytesIO()
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files = {"PKG-INFO": metadata, "pyproject.toml": _PYPROJECT, "backend.py": _BACKEND}
    files |= {"setup.py": "", f"{name.replace('-', '_')}/__init__.py": ""}  # by which a vllm-ascend is known
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return Distribution(name, version, f"{name}-{version}.tar.gz", gzip.compress(packed.getvalue(), mtime=0))


def _zipped(name: str, version: str, info: str, members: Mapping[str, bytes]) -> Distribution:
    record = "".join(f"{path},,\n" for path in (*members, f"{info}/RECORD"))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in {**members, f"{info}/RECORD": record.encode()}.items():
            member = zipfile.ZipInfo(path)  # whose time is fixed
            member.external_attr = 0o644 << 16
            archive.writestr(member, data)
    file = f"{info.removesuffix('.dist-info')}-py3-none-any.whl"
    return Distribution(name, version, file, packed.getvalue())


def _repacked(name: str) -> Distribution:
    """The wheel that an installed, pure distribution came from, as far as pip wants it."""
    found = distribution(name)
    members = {}
    for path in sorted(found.files or (), key=str):
        is_pips = path.name in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
        if not (is_pips or path.suffix == ".pyc" or path.parts[0] == ".."):
            members[path.as_posix()] = Path(str(path.locate())).read_bytes()
    return _zipped(name, found.version, f"{name}-{found.version}.dist-info", members)


def _compiled() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        made = {}
        for name, source in _LIBRARIES.items():
            library = Path(folder, Path(name).name)
            command = ["cc", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-o", str(library)]
            subprocess.run([*command, f"-Wl,-soname,{library.name}"], input=source.encode(), check=True)
            made[name] = library.read_bytes()
        return made
