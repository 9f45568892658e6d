"""Print what runs here: versions, the files they were loaded from, and the CANN that this process uses.

The same facts go into `<archive>/environment.json`. Exits 1 where a package is missing, where a `triton`
distribution lies beside triton-ascend (the two overwrite each other's files), where the device computes
wrongly, or where vllm-ascend's compiled module does not fit the installed torch.
"""

import hashlib
import importlib
import importlib.metadata
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from support.binding import CALLS, WrongBinding, load_binding, refuse_lost_references
from support.cann import cann_identity, loaded_cann_libraries, print_process_map, stray_from_home
from support.stage import Stage, StageError

#: Distribution, and the module that it is imported as.
PACKAGES = (
    ("torch", "torch"),
    ("torch-npu", "torch_npu"),
    ("vllm", "vllm"),
    ("vllm-ascend", "vllm_ascend"),
    ("triton-ascend", "triton"),
    ("vllm_ascend_params", "vllm_ascend_params"),
    ("transformers", "transformers"),
    ("numpy", "numpy"),
    ("pytest", "pytest"),
)
#: The same, of what only some environments have.
OPTIONAL_PACKAGES = (("lmcache", "lmcache"),)
FORBIDDEN = "triton"


@dataclass(frozen=True)
class Package:
    """A distribution, and the file that its module was loaded from."""

    name: str
    version: str
    path: str


@dataclass(frozen=True)
class Device:
    """The NPUs that torch sees."""

    kind: str
    count: int
    name: str


class Wrong(Exception):
    """Something here is not as it must be; the message is one line."""


def installed(distribution: str) -> str:
    """Return the version of a distribution."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise Wrong(f"{distribution} is not installed; type: npu-assay env install") from None


def is_installed(distribution: str) -> bool:
    """Return whether a distribution is there."""
    return any(True for _ in importlib.metadata.distributions(name=distribution))


def loaded(distribution: str, version: str, module: str) -> Package:
    """Import the module of a distribution, and say which file that was."""
    try:
        path = importlib.import_module(module).__file__
    except (ImportError, RuntimeError) as error:
        # torch turns what went wrong in its autoload of torch-npu into the cause of an error of its own.
        raise Wrong(f"{distribution} {version} can't be imported: {error.__cause__ or error}") from error
    return Package(distribution, version, str(path))


def python_files(package: str) -> dict[str, str]:
    """Return the sha256 of every Python file in a package's folder, by its name from the folder above."""
    folder = Path(str(importlib.import_module(package).__file__)).parent
    return {
        file.relative_to(folder.parent).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*.py"))
    }


def refuse_distribution(name: str) -> None:
    """Fail where this distribution is installed."""
    if not is_installed(name):
        return
    raise Wrong(
        f"{name} {importlib.metadata.version(name)} is installed beside triton-ascend and overwrites its"
        f" files; uninstall {name}"
    )


def use_device(kind: str) -> Device:
    """Compute on the first NPU, so that everything a computation needs is loaded."""
    import torch

    if not torch.npu.is_available():
        raise Wrong("torch sees no NPU: expected at least one")
    numbers = torch.arange(1024, dtype=torch.float32)
    doubled = (numbers.to("npu") + numbers.to("npu")).cpu()
    if not torch.equal(doubled, 2 * numbers):
        raise Wrong("x + x on npu:0 is not 2 x: the device computes wrongly")
    return Device(kind, torch.npu.device_count(), torch.npu.get_device_name(0))


def run(stage: Stage) -> None:
    """Print and write the facts."""
    refuse_distribution(FORBIDDEN)
    wanted = PACKAGES + tuple(package for package in OPTIONAL_PACKAGES if is_installed(package[0]))
    versions = [installed(distribution) for distribution, _ in wanted]
    packages = [
        loaded(name, version, module) for (name, module), version in zip(wanted, versions, strict=True)
    ]
    build = importlib.import_module("vllm_ascend._build_info").__device_type__
    device = use_device("emulated" if stage.emulated else "hardware")
    binding = load_binding()
    refuse_lost_references()
    libraries = loaded_cann_libraries()
    identity = cann_identity(libraries)
    # Before it is judged: the log of a stage that fails for it says which CANN that was.
    print_process_map()
    print(f"cann-identity: {identity}")
    if stray := stray_from_home(libraries):
        raise Wrong(f"another CANN is loaded than is meant: {stray}")
    if stage.emulated == identity.startswith("hardware"):
        raise Wrong(f"this stage runs for {device.kind}, but the CANN that is loaded says: {identity}")

    print(f"python {sys.version.split()[0]} {sys.executable}")
    for package in packages:
        print(f"{package.name} {package.version} {package.path}")
    print(f"vllm-ascend build: device type {build}")
    print(f"vllm-ascend binding: {binding}")
    print(f"reference counts: as before after {CALLS} calls of swap_blocks")
    print(f"distribution {FORBIDDEN}: not installed")
    print(f"device: {device.count} x {device.name}, {device.kind}")
    facts = {
        "python": {"version": sys.version.split()[0], "executable": sys.executable},
        "packages": [asdict(package) for package in packages],
        "vllm_ascend_build": {"device_type": build},
        "vllm_ascend_binding": asdict(binding),
        "vllm_ascend_files": python_files("vllm_ascend"),
        "device": asdict(device),
        "process_map": libraries,
        "cann_identity": identity,
    }
    (stage.archive / "environment.json").write_text(json.dumps(facts, indent=2) + "\n")


def main() -> int:
    """Run as a stage."""
    try:
        run(Stage.from_variables())
    except (StageError, Wrong, WrongBinding, RuntimeError) as error:
        print(f"{Path(__file__).name}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
