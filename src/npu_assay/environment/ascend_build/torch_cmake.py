"""A description of torch for CMake, where torch's own can't be used.

The index's torch for x86-64 is a CUDA build, and the TorchConfig.cmake in it ends with an error on a machine
without the CUDA toolkit (Caffe2Config.cmake), though nothing of vllm-ascend wants CUDA. So a folder with
another one is put before it, by the variable that find_package(Torch) looks at first: torch's headers, and
the libraries that torch-npu links too. A CPU build (aarch64's, and upstream's own) describes itself.
"""

from pathlib import Path

from npu_assay.environment.folder import VenvFolder

_CONFIG = """\
set(TORCH_FOUND TRUE)
set(TORCH_INSTALL_PREFIX "{torch}")
set(TORCH_INCLUDE_DIRS "{torch}/include" "{torch}/include/torch/csrc/api/include")
set(TORCH_CXX_FLAGS "")
set(TORCH_LIBRARIES "{torch}/lib/libtorch.so" "{torch}/lib/libtorch_cpu.so" "{torch}/lib/libc10.so")
"""


def torch_for_cmake(venv: VenvFolder, folder: Path) -> dict[str, str]:
    """Variables for CMake; writes into `folder`, a new one, where torch is a CUDA build without CUDA."""
    if not venv.cuda_standins.is_dir():
        return {}
    folder.mkdir()
    (folder / "TorchConfig.cmake").write_text(_CONFIG.format(torch=venv.site_packages / "torch"))
    return {"Torch_ROOT": str(folder)}
