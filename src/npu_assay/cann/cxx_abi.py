"""The C++ ABI of an installed torch, read from its files: importing torch takes seconds and loads torch-npu.

ATB is shipped for both ABIs of std::string, and its set_env.sh chooses: by `--cxx_abi`, else by what `import
torch` says, else a default. Sourced before torch is installed, or with another python3 first on PATH, it may
choose the one that torch-npu does not have, which ends in `undefined symbol: _ZN3atb...` (vllm-ascend#750,
#117, #1144).
"""

import mmap
import re
from pathlib import Path

#: The constructor of c10::Error takes a std::string, which mangles as std::__cxx11::basic_string in the new
#: ABI and as `Ss` in the old one. (TorchConfig.cmake, which used to have a flag for it, has none in torch
#: 2.9.)
_NEW = re.compile(rb"_ZN3c105ErrorC[12]ENS_14SourceLocationENSt7__cxx1112basic_string")
_OLD = re.compile(rb"_ZN3c105ErrorC[12]ENS_14SourceLocationESs")


def torch_cxx_abi(site_packages: Path) -> int | None:
    """1 or 0, as torch.compiled_with_cxx11_abi() says it; None without torch, or where it can't be told."""
    try:
        with (
            (site_packages / "torch" / "lib" / "libc10.so").open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            new, old = _NEW.search(data) is not None, _OLD.search(data) is not None
    except (OSError, ValueError):  # not there; empty
        return None
    return None if new == old else int(new)


def atb_cxx_abi(atb_home: str) -> int | None:
    """The ABI in a value of ATB_HOME_PATH, which ends in cxx_abi_0 or cxx_abi_1; None for another value."""
    match = re.fullmatch(r"cxx_abi_([01])", Path(atb_home).name)
    return int(match[1]) if match else None
