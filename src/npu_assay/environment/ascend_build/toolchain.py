"""What compiles a vllm-ascend on hardware: CANN's toolkit and ops, the environment's Python, host tools.

Nothing here was seen on a host with a real CANN: where its parts are is what upstream's CMakeLists.txt and
csrc/build.sh look for.
"""

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from npu_assay.cann.emulated import compiler
from npu_assay.cann.files.install_info import InstallInfo, parse_ops_install_info
from npu_assay.cann.files.reading import read_version_file
from npu_assay.environment.ascend_build.variables import build_variables
from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import installed
from npu_assay.errors import UnusableError

#: Below the toolkit; the first that is there counts (upstream's CMakeLists.txt).
KERNEL_CMAKE = (
    "tools/tikcpp/ascendc_kernel_cmake",
    "compiler/tikcpp/ascendc_kernel_cmake",
    "ascendc_devkit/tikcpp/samples/cmake",
)
#: CANN's compiler for the device, by its two names; in a folder of PATH or in one of these of the toolkit.
DEVICE_COMPILERS = ("bisheng", "ccec")
_COMPILER_FOLDERS = (
    "bin",
    "compiler/ccec_compiler/bin",
    "tools/ccec_compiler/bin",
    "tools/bisheng_compiler/bin",
)

_ASK = """\
import importlib.util, json, platform, sysconfig
names = ("pybind11", "setuptools", "setuptools_scm")
print(json.dumps({
    "version": platform.python_version(),
    "include": sysconfig.get_path("include"),
    "missing": [name for name in names if importlib.util.find_spec(name) is None],
}))
"""


@dataclass(frozen=True)
class PythonFacts:
    """The environment's Python."""

    version: str
    include: Path
    missing: tuple[str, ...]
    """Modules that a build imports and that are not installed."""


@dataclass(frozen=True)
class Toolchain:
    """All that goes into a compilation, but the sources and the chip."""

    cann: Path
    """The toolkit's folder: ASCEND_HOME_PATH."""
    innerversion: str
    ops: InstallInfo | None
    """None where there is no ops package, or its record can't be read."""
    kernel_cmake: Path | None
    """The folder with ascendc.cmake."""
    device_compiler: Path | None
    python: PythonFacts
    torch: str
    torch_npu: str
    host_compiler: str
    """The first line of `c++ --version`."""
    variables: Mapping[str, str]
    """All variables of a build but those about the tree."""

    @property
    def pkg_inc(self) -> Path:
        """Headers that CANN has had in a folder of their own since 8.5."""
        return self.cann / f"{platform.machine()}-linux" / "pkg_inc"

    def identity(self) -> dict[str, str]:
        """What compiled parts depend on: two with the same identity make the same of the same sources."""
        return {
            "architecture": platform.machine(),
            "cann": self.innerversion,
            "ops": f"{self.ops.package_name} {self.ops}" if self.ops else "",
            "device compiler": _first_line(self.device_compiler, self.variables),
            "host compiler": self.host_compiler,
            "python": self.python.version,
            "torch": self.torch,
            "torch-npu": self.torch_npu,
        }


def find_toolchain(environment: Environment, base: Mapping[str, str] = os.environ) -> Toolchain:
    """Look at what is there; what is missing is judged by `preflight`.

    Raises UnusableError where there is no CANN at all, no compiler, or no torch in the environment.
    """
    variables = build_variables(environment, base)
    home = variables.get("ASCEND_HOME_PATH")
    if not home:
        raise UnusableError(
            f"{environment.cann.cann_script}: does not set ASCEND_HOME_PATH; is this a whole CANN toolkit?"
        )
    cann = Path(home)
    there = installed(environment.site_packages)
    for name in ("torch", "torch-npu"):
        if name not in there:
            raise UnusableError(
                f"{environment.site_packages}: no {name}, which vllm-ascend is compiled against; type:"
                f" {environment.variant.install_command}"
            )
    return Toolchain(
        cann=cann,
        innerversion=environment.cann.innerversion(),
        ops=_ops_of(cann),
        kernel_cmake=next((cann / f for f in KERNEL_CMAKE if (cann / f / "ascendc.cmake").is_file()), None),
        device_compiler=_device_compiler(cann, variables),
        python=_ask_python(environment.python, variables),
        torch=there["torch"].version,
        torch_npu=there["torch-npu"].version,
        host_compiler=compiler(),
        variables=variables,
    )


def _ops_of(cann: Path) -> InstallInfo | None:
    path = cann / f"{platform.machine()}-linux" / "ascend_ops_install.info"
    file = read_version_file(path, parse_ops_install_info)
    return file.value if file else None


def _device_compiler(cann: Path, variables: Mapping[str, str]) -> Path | None:
    folders = [Path(entry) for entry in variables.get("PATH", "").split(os.pathsep) if entry]
    folders += [cann / folder for folder in _COMPILER_FOLDERS]
    candidates = (folder / name for folder in folders for name in DEVICE_COMPILERS)
    return next((path for path in candidates if os.access(path, os.X_OK) and path.is_file()), None)


def _ask_python(python: Path, variables: Mapping[str, str]) -> PythonFacts:
    try:
        said = subprocess.run(
            [python, "-c", _ASK], env={**variables}, capture_output=True, text=True, check=True
        ).stdout
        facts = json.loads(said)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise UnusableError(f"{python}: can't be asked what it has for a build: {error}") from error
    return PythonFacts(facts["version"], Path(facts["include"]), tuple(facts["missing"]))


def _first_line(program: Path | None, variables: Mapping[str, str]) -> str:
    """What a compiler says it is; empty where it does not."""
    if program is None:
        return ""
    try:
        said = subprocess.run(
            [program, "--version"],
            env={**variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    except (OSError, UnicodeDecodeError):
        return ""
    return next((line.strip() for line in said.splitlines() if line.strip()), "")
