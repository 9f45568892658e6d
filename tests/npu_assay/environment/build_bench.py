"""A bench to try builds on hardware on: a small tree with vllm-ascend's places, and a stand-in for CANN.

The stand-in compiler writes down every call with its variables and has the machine's own compiler make the
library. Nothing of upstream's files is here but the names that a build looks for.
"""

import json
import platform
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from npu_assay.cann.discovery import ATB_VARIABLE, TOOLKIT_VARIABLES
from npu_assay.environment.ascend_build.hardware import HardwareBuild
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import load_lock
from npu_assay.source.location import Folder
from npu_assay.source.tree import Wanted, make_tree

MACHINE = f"{platform.machine()}-linux"
B250 = "V100R001C10SPC001B250"
ATB_BUILD = "B250"

SETUP = """\
import os, shutil, subprocess, sys
from pathlib import Path
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools_scm import get_version

HERE = Path(__file__).resolve().parent
COMPILE = os.environ.get("COMPILE_CUSTOM_KERNELS", "1") != "0"
soc_version = os.environ["SOC_VERSION"]
soc_to_device = {"910b": "A2", "ascend910b1": "A2", "ascend910b3": "A2", "ascend910_9391": "A3",
                 "ascend310p3": "_310P"}
if "ascend950" in soc_version:
    device_type = "A5"
else:
    device_type = soc_to_device[soc_version]

class BuildInfo(build_py):
    def run(self):
        (HERE / "vllm_ascend/_build_info.py").write_text(f"# made\\n__device_type__ = '{device_type}'\\n")
        super().run()

class CMakeBuild(build_ext):
    def run(self):
        subprocess.check_call(["bash", "csrc/build_aclnn.sh", str(HERE), soc_version])
        package, work = Path(self.build_lib, "vllm_ascend").absolute(), Path(self.build_temp).absolute()
        work.mkdir(parents=True, exist_ok=True)
        package.mkdir(parents=True, exist_ok=True)
        home = os.environ["ASCEND_HOME_PATH"]
        subprocess.check_call(["cmake", f"-DASCEND_HOME_PATH={home}", f"-DSOC_VERSION={soc_version}",
                               f"-DPYTHON_EXECUTABLE={sys.executable}", str(HERE)], cwd=work)
        subprocess.check_call(["cmake", "--build", ".", f"-j={os.environ['MAX_JOBS']}"], cwd=work)
        for made in work.glob("*.so"):
            shutil.copy(made, package)
        operators = HERE / "vllm_ascend/_cann_ops_custom"
        shutil.copytree(operators, package / "_cann_ops_custom", dirs_exist_ok=True)

setup(
    name="vllm_ascend",
    version=get_version(write_to="vllm_ascend/_version.py"),
    packages=["vllm_ascend"],
    install_requires=["a-package-that-is-nowhere==1.0"],
    ext_modules=[Extension("vllm_ascend.vllm_ascend_C", [])] if COMPILE else [],
    cmdclass={"build_py": BuildInfo, "build_ext": CMakeBuild},
    entry_points={"vllm.platform_plugins": ["ascend = vllm_ascend:register"]},
)
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(vllm_ascend_C CXX)
execute_process(COMMAND ${PYTHON_EXECUTABLE} -c
  "from importlib.metadata import version; print(version('torch'))"
  OUTPUT_VARIABLE TORCH_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT ${TORCH_VERSION} VERSION_EQUAL "2.9.0")
  message(FATAL_ERROR "wants torch 2.9.0, not ${TORCH_VERSION}")
endif()
include(${ASCEND_HOME_PATH}/tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake)
ascendc_library(vllm_ascend_kernels SHARED ${CMAKE_CURRENT_SOURCE_DIR}/csrc/kernels/add.cpp)
add_library(vllm_ascend_C MODULE csrc/binding.cpp)
set_target_properties(vllm_ascend_C PROPERTIES PREFIX "" SUFFIX ".cpython-311-test.so")
"""
ACLNN = """\
[[ "$2" =~ ^ascend910 ]] || exit 0
git config --global --add safe.directory "$1"
[[ -d $1/csrc/third_party/catlass/include ]] || { echo "fetching catlass"; exit 1; }
if [[ "$2" =~ ^ascend910_93 ]]; then yes | cp "${HCCL_STRUCT_FILE_PATH}" "$1/csrc/utils"; fi
lib=$1/vllm_ascend/_cann_ops_custom/vendors/vllm-ascend/op_api/lib
mkdir -p "$lib"
bisheng "$1/csrc/op/op.cpp" -o "$lib/libcust_opapi.so"
"""
INTF = """\
add_library(intf_pub INTERFACE)
target_include_directories(intf_pub
  INTERFACE
    ${ASCEND_CANN_PACKAGE_PATH}/include
)
"""
TREE = {
    "setup.py": SETUP,
    "CMakeLists.txt": CMAKE,
    "pyproject.toml": '[build-system]\nrequires = ["nowhere==1"]\nbuild-backend = "setuptools.build_meta"\n',
    "README.md": "a vllm-ascend\n",
    "vllm_ascend/__init__.py": "def register():\n    return 'first'\n",
    "vllm_ascend/_cann_ops_custom/.gitkeep": "",
    "csrc/binding.cpp": 'extern "C" int binding() { return 1; }\n',
    "csrc/kernels/add.cpp": 'extern "C" int add() { return 1; }\n',
    "csrc/op/op.cpp": 'extern "C" int op() { return 1; }\n',
    "csrc/utils/util.h": "",
    "csrc/build_aclnn.sh": ACLNN,
    "csrc/cmake/intf_pub.cmake": INTF,
    "csrc/third_party/catlass/include/catlass.h": "",
}

ASCENDC = """\
function(ascendc_library name kind)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${name})
  add_custom_command(OUTPUT ${made}.device COMMAND bisheng ${ARGN} -o ${made}.device DEPENDS ${ARGN} VERBATIM)
  add_custom_target(${name}_device DEPENDS ${made}.device)
  file(WRITE ${made}.cpp "")
  add_library(${name} SHARED ${made}.cpp)
  add_dependencies(${name} ${name}_device)
endfunction()
"""
#: `bisheng SOURCES... -o LIBRARY`. A file `fault` beside it is run before it compiles.
BISHENG = """\
#!/usr/bin/env python3
import json, os, subprocess, sys
from pathlib import Path
here = Path(__file__).parent
if sys.argv[1:] == ["--version"]:
    print("stand-in bisheng 1.0")
    raise SystemExit
with (here / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps(dict(argv=sys.argv[1:], cwd=os.getcwd(), env=dict(os.environ))) + "\\n")
fault = here / "fault.py"
if fault.exists():
    exec(fault.read_text())
at = sys.argv.index("-o")
raise SystemExit(subprocess.call(["c++", "-shared", "-fPIC", *sys.argv[1:at], *sys.argv[at:]]))
"""

PYBIND11 = ""
SCM = """\
import os
from pathlib import Path
def get_version(write_to):
    version = os.environ["SETUPTOOLS_SCM_PRETEND_VERSION"]
    Path(write_to).write_text(f"version = {version!r}\\n")
    return version
"""
INSTALLED = {"torch": "2.10.0+cpu", "torch-npu": "2.10.0", "triton-ascend": "3.2.0", "vllm": "0.18.0"}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def plant_distribution(site: Path, name: str, version: str) -> None:
    """A distribution of which nothing but its metadata is there."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    write(site, {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"})


def make_venv(folder: Path) -> Path:
    """A venv with pip, by a path the setuptools that the tests run with, and what a build asks for."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    [site] = folder.glob("lib/python*/site-packages")
    for old in site.glob("setuptools*"):
        shutil.rmtree(old)
    ours = Path(sys.prefix).joinpath(site.relative_to(folder))
    write(site, {"ours.pth": f"{ours}\n", "pybind11.py": PYBIND11, "setuptools_scm.py": SCM})
    for name, version in INSTALLED.items():
        plant_distribution(site, name, version)
    return folder


@dataclass(frozen=True)
class Bench:
    """A tree, a CANN and an environment in one folder."""

    folder: Path
    environment: Environment

    @property
    def tree(self) -> Path:
        return self.folder / "vllm-ascend"

    @property
    def root(self) -> Path:
        """What /usr/local/Ascend is elsewhere."""
        return self.folder / "Ascend"

    @property
    def cann(self) -> Path:
        return self.root / "cann-9.0.0"

    @property
    def bin(self) -> Path:
        """Where the stand-in compiler is."""
        return self.cann / "bin"

    def build(self) -> HardwareBuild:
        """The build of the tree as it is now."""
        wanted = Wanted(Folder(self.tree))
        tree = make_tree(wanted, "0.18.0", self.environment.cache, quiet)
        return HardwareBuild.of(replace(self.environment, tree=tree))

    def make(self) -> HardwareBuild:
        """The same, made."""
        build = self.build()
        build.make(quiet)
        return build

    def calls(self) -> list[dict[str, Any]]:
        """Of the stand-in compiler, so far."""
        path = self.bin / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def compiled(self) -> list[str]:
        """The names of the sources that it was given."""
        words = [word for call in self.calls() for word in call["argv"]]
        return sorted(Path(word).name for word in words if word.endswith(".cpp"))

    def change(self, name: str, old: str, new: str) -> None:
        """Change a file of the bench."""
        path = self.folder / name
        text = path.read_text()
        assert old in text, f"{old!r} is not in {name}"
        path.write_text(text.replace(old, new))

    def fault(self, code: str) -> None:
        """Python that the stand-in compiler runs before it compiles; empty for none."""
        path = self.bin / "fault.py"
        path.write_text(textwrap.dedent(code)) if code else path.unlink()


def info(package: str, root: Path, build: str = B250) -> str:
    return (
        f"package_name={package}\nversion=9.0.0\ninnerversion={build}\n"
        f"arch={platform.machine()}\nos=linux\npath={root}\n"
    )


def plant_toolchain(cann: Path) -> None:
    """What compiles, into the folder of a toolkit."""
    write(
        cann,
        {
            f"{MACHINE}/pkg_inc/base/log.h": "",
            f"{MACHINE}/devlib/libascend_hal.so": "",
            f"{MACHINE}/include/moe_distribute_base.h": "// CANN's\n",
            "tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake": ASCENDC,
            "bin/bisheng": BISHENG,
        },
    )
    (cann / "bin" / "bisheng").chmod(0o755)


def plant_bench(folder: Path, venv: Path, locks: Path) -> Bench:
    """A bench whose build goes well; its venv is shared."""
    environment = Environment.of(load_lock("small", locks), "hardware", cache=folder / "cache")
    bench = Bench(folder, environment)
    environment.root.mkdir(parents=True)
    environment.venv.symlink_to(venv)
    write(bench.tree, TREE)
    cann = bench.cann
    write(
        cann,
        {
            f"{MACHINE}/ascend_toolkit_install.info": info("Ascend-cann-toolkit", cann),
            f"{MACHINE}/ascend_ops_install.info": info("Ascend-cann-910b-ops", cann),
            "set_env.sh": f"export ASCEND_HOME_PATH={cann}\nexport PATH={cann}/bin:$PATH\n",
        },
    )
    plant_toolchain(cann)
    (bench.root / "cann").symlink_to("cann-9.0.0")
    atb = bench.root / "nnal/atb"
    write(
        atb,
        {
            "9.0.0/version.info": f"Ascend-cann-atb : 9.0.0\nAscend-cann-atb Version : 9.0.0.{ATB_BUILD}\n"
            f"Platform : {platform.machine()}\n",
            "9.0.0/atb/cxx_abi_0/lib/libatb.so": "",
            "9.0.0/atb/cxx_abi_1/lib/libatb.so": "",
            "set_env.sh": f"export ATB_HOME_PATH={atb}/latest/atb/cxx_abi_1\n",
        },
    )
    (atb / "latest").symlink_to("9.0.0")
    return bench


def quiet(line: str) -> None:
    """Nobody wants to know."""


def prepare(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """The variables of whoever builds: a 910B3 is asked for, there is no npu-smi and no ccache."""
    for name in (*TOOLKIT_VARIABLES, ATB_VARIABLE, "MAX_JOBS", "CC", "CXX", "HCCL_STRUCT_FILE_PATH"):
        patch.delenv(name, raising=False)
    patch.setenv("SOC_VERSION", "ascend910b3")
    patch.setenv("ASCEND_HOME_PATH", str(folder / "Ascend/cann"))
    patch.setenv("HOME", str(folder / "home"))
    patch.setenv("PATH", outside_path(folder))
    (folder / "home").mkdir()


def outside_path(folder: Path) -> str:
    """A PATH without npu-smi and ccache, which the machine that runs the tests may have."""
    tools = folder / "tools"
    tools.mkdir()
    for tool in Path("/usr/bin").iterdir():
        if tool.name not in ("npu-smi", "ccache"):
            (tools / tool.name).symlink_to(tool)
    return str(tools)
