"""Stand-ins for the vendor's image: CANN where it has it, and what it has on PATH and in its variables.

Facts: cann-container-image's Dockerfile of 9.0.0-910b-ubuntu22.04-py3.11 (a Python of its own, compilers,
git; the variables of CANN's scripts, a PYTHONPATH that ends in a colon; bash as shell and entry point).
"""

import platform
import shutil
from pathlib import Path

from build_bench import plant_toolchain
from engine import Engine
from planted_ascend import B250, plant_cann9

ARCH = platform.machine()
_ROOT = "/usr/local/Ascend"
_DOCKERFILE = f"""\
FROM {{base}}
SHELL ["/bin/bash", "-c"]
COPY Ascend {_ROOT}
ENV ASCEND_TOOLKIT_HOME={_ROOT}/cann-9.0.0 ASCEND_HOME_PATH={_ROOT}/cann-9.0.0
ENV ATB_HOME_PATH={_ROOT}/nnal/atb/latest/atb/cxx_abi_1
ENV PYTHONPATH={_ROOT}/cann-9.0.0/python/site-packages:
ENV LD_LIBRARY_PATH={_ROOT}/driver/lib64/driver:{_ROOT}/cann-9.0.0/lib64:
ENV PATH={_ROOT}/cann-9.0.0/bin:$PATH
ENTRYPOINT ["/bin/bash", "-c", "source {_ROOT}/cann/set_env.sh && source {_ROOT}/nnal/atb/set_env.sh && \\
    exec \\"$@\\"", "--"]
"""


def plant_vendor_tree(folder: Path, build: str = B250, arch: str = ARCH, *, nnal: bool = True) -> Path:
    """The vendor's /usr/local/Ascend, without a driver, as a folder for COPY; returns it."""
    tree = plant_cann9(folder / "planted", arch)
    tree.plant_toolkit("9.0.0", build, "cann-9.0.0")
    plant_toolchain(tree.root / "cann-9.0.0")
    with (tree.root / "cann-9.0.0/set_env.sh").open("a") as script:
        script.write(f"export PATH={tree.root}/cann-9.0.0/bin:$PATH\n")
    for path in ("driver", "firmware", *(() if nnal else ("nnal",))):
        shutil.rmtree(tree.root / path)
    for path in tree.root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.write_text(path.read_text().replace(str(tree.root), _ROOT))
    return tree.root.rename(folder / "Ascend")


def make_vendor_image(engine: Engine, base: str, folder: Path, tag: str) -> str:
    """Build it from the base and the folder that `plant_vendor_tree` has filled; returns its tag."""
    (folder / "Dockerfile").write_text(_DOCKERFILE.format(base=base))
    engine.docker("build", "--quiet", "--network=host", "--tag", tag, folder)
    return tag
