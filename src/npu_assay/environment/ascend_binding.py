"""vllm-ascend's compiled module, made again for the torch that is installed.

A release's wheel is compiled for one torch. Where another is installed, the module may load and run, and
still be wrong: c10's intrusive_ptr has another layout in torch 2.10 than in 2.9, and the module of
vllm-ascend 0.18.0, which is compiled for 2.9, then leaves a reference to each of its tensors behind with
every call of an op. So the host side of the source distribution (csrc: PyTorch's bindings, no device
kernel) is compiled here, against the headers of the installed torch and torch-npu, and takes the place of
the wheel's file. The device kernels stay the wheel's own library, libvllm_ascend_kernels.so, which knows
nothing of torch.

Two headers of CANN's kernel compiler that no wheel carries come from src/emucann/ascendc: what is made here
is for the emulator.
"""

import json
import os
import shutil
import sysconfig
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from npu_assay.cache import write_json
from npu_assay.cann.emulated import compiler
from npu_assay.digest import sha256_of
from npu_assay.environment.ascend_build.locked import DISTRIBUTION, make_locked_tree
from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import installed
from npu_assay.environment.record_repair import repair_record
from npu_assay.errors import UnusableError
from npu_assay.logged import first_error, run_logged
from npu_assay.project import EMUCANN

PACKAGE = "vllm_ascend"
#: Left in the distribution's dist-info: which file was replaced, and what by.
RECORD_NAME = "npu-assay-rebuilt.json"

#: What upstream's CMakeLists.txt compiles into the module, below csrc.
_SOURCES = ("*.cpp", "aclnn_torch_adapter/*.cpp", "batch_matmul_transpose/op_host/tiling/*.cpp")
_HEADERS = EMUCANN / "ascendc" / "include"


@dataclass(frozen=True)
class Rebuilt:
    """The module that was made: its file below site-packages, and the sha256 of the wheel's and of ours."""

    library: str
    wheel_sha256: str
    sha256: str
    sdist_sha256: str
    torch: str
    compiler: str


def rebuild(environment: Environment, module: str) -> Rebuilt:
    """Make `module` again and put it in the place of the wheel's, which is kept beside the venv in replaced/.

    Raises UnusableError with pip's or the compiler's first error, or when the wheel has no such module.
    """
    site = environment.site_packages
    library = wheel_module(site, module)
    work = environment.root / "binding"
    work.mkdir(parents=True, exist_ok=True)
    tree = make_locked_tree(environment, lambda line: None)
    made = _compile(environment, tree.files / "csrc", work / library.name)

    kept = environment.root / "replaced" / library.name
    kept.parent.mkdir(exist_ok=True)
    library.replace(kept)
    made.replace(library)
    facts = Rebuilt(
        library=library.relative_to(site).as_posix(),
        wheel_sha256=sha256_of(kept),
        sha256=sha256_of(library),
        sdist_sha256=environment.variant.component(DISTRIBUTION).sha256["sdist"],
        torch=environment.variant.versions["torch"],
        compiler=compiler(),
    )
    note = installed(site)[DISTRIBUTION].dist_info / RECORD_NAME
    write_json(note, asdict(facts))
    repair_record(site, DISTRIBUTION, [facts.library], added=[note.relative_to(site).as_posix()])
    shutil.rmtree(work)
    return facts


def rebuilt_files(site_packages: Path) -> dict[str, str]:
    """File below site-packages -> sha256, of what an installation made in place of the wheel's."""
    note = rebuilt_note(site_packages)
    return {note.library: note.sha256} if note else {}


def rebuilt_note(site_packages: Path) -> Rebuilt | None:
    """What the installation says about the module that it made; None where that is the wheel's own."""
    there = installed(site_packages).get(DISTRIBUTION)
    note = there.dist_info / RECORD_NAME if there else None
    return Rebuilt(**json.loads(note.read_bytes())) if note and note.is_file() else None


def wheel_module(site_packages: Path, module: str) -> Path:
    """The file of the module in the package. Raises UnusableError when there is not exactly one."""
    found = sorted((site_packages / PACKAGE).glob(f"{module}.*.so"))
    if len(found) != 1:
        raise UnusableError(
            f"{site_packages / PACKAGE}: expected one {module}.*.so to rebuild, found {len(found)};"
            f" install {DISTRIBUTION} from its wheel"
        )
    return found[0]


def _compile(environment: Environment, csrc: Path, target: Path) -> Path:
    """Compile and link all sources, as many at once as there are cores; minutes of one core."""
    site, objects = environment.site_packages, target.parent / "objects"
    objects.mkdir(exist_ok=True)
    variables = environment.build_variables()
    log = environment.root / "logs" / f"{DISTRIBUTION}.log"

    def run(doing: str, command: Iterable[str], log: Path) -> None:
        run_logged([*command], log, doing=doing, variables=variables, telling=first_error)

    def compile_one(source: Path) -> str:
        made = objects / f"{source.stem}.o"
        run(f"compiling {source.name}", compile_command(source, made, csrc, site), made.with_suffix(".log"))
        return str(made)

    sources = sorted(path for pattern in _SOURCES for path in csrc.glob(pattern))
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        made = list(pool.map(compile_one, sources))
    run(f"linking {target.name}", link_command(made, target, site), log)
    return target


def compile_command(source: Path, made: Path, csrc: Path, site: Path) -> list[str]:
    """The compiler's command for one source. The host side does no work of its own: -O1 compiles fastest."""
    third_party = site / "torch_npu" / "include" / "third_party"
    system = (
        site / "torch" / "include",
        site / "torch" / "include" / "torch" / "csrc" / "api" / "include",
        site / "torch_npu" / "include",
        third_party / "acl" / "inc",
        third_party / "hccl" / "inc",
        sysconfig.get_path("include"),
    )
    return [
        *(_cxx(), "-std=c++17", "-O1", "-fPIC", "-w", "-include", "undeclared.h", f"-I{_HEADERS}"),
        *(f"-I{csrc}", f"-I{csrc / 'batch_matmul_transpose' / 'op_host'}"),
        *(word for folder in system for word in ("-isystem", str(folder))),
        *("-c", str(source), "-o", str(made)),
    ]


def link_command(objects: Iterable[str], target: Path, site: Path) -> list[str]:
    """The linker's command. CANN's own symbols are found through torch-npu's library when it is loaded."""
    torch, torch_npu = site / "torch" / "lib", site / "torch_npu" / "lib"
    return [
        *(
            _cxx(),
            "-shared",
            "-Wl,--no-as-needed",
            "-Wl,--unresolved-symbols=ignore-all",
            "-Wl,-rpath,$ORIGIN",
        ),
        *("-o", str(target), *objects, f"-L{torch}", f"-L{torch_npu}", f"-L{site / PACKAGE}"),
        *("-ltorch_npu", "-l:libvllm_ascend_kernels.so", "-ltorch", "-ltorch_cpu", "-lc10"),
    ]


def _cxx() -> str:
    return os.environ.get("CXX") or "c++"
