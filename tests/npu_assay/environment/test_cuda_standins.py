"""CUDA stand-ins: what they must define is read from libraries, and they satisfy the loader."""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from npu_assay.environment import cuda_standins
from npu_assay.environment.cuda_standins import Library, StandIn
from npu_assay.environment.environment import Environment
from npu_assay.errors import UnusableError


def library(
    needed: str = "", bound: dict[str, tuple[str, str]] | None = None, free: str = "", defined: str = ""
) -> Library:
    return Library(
        needed=tuple(needed.split()),
        undefined={**(bound or {}), **dict.fromkeys(free.split())},
        defined=frozenset(defined.split()),
    )


def test_versioned_symbols_go_where_the_linker_bound_them() -> None:
    torch = library(
        "libcudart.so.12 libc.so.6", {"cudaMalloc": ("libcudart.so.12", "v12"), "read": ("libc.so.6", "G")}
    )
    assert cuda_standins.stand_ins({"libtorch.so": torch}) == [
        StandIn("libcudart.so.12", {"v12": {"cudaMalloc"}})
    ]


@pytest.mark.parametrize(
    ("symbol", "home"),
    [
        ("ncclSend", "libnccl.so.2"),
        ("cuFileRead", "libcufile.so.0"),
        ("cusparseLtInit", "libcusparseLt.so.0"),
        ("cusparseCreate", "libcusparse.so.12"),
        ("PyLong_FromLong", None),
        ("_ZNSt13runtime_errorC1EPKc", None),
        ("cusparseOfferedByTorch", None),
    ],
)
def test_unversioned_symbols_go_where_they_are_named_after(symbol: str, home: str | None) -> None:
    libraries = {
        "libtorch.so": library(
            "libnccl.so.2 libcufile.so.0 libcusparseLt.so.0 libcusparse.so.12", free=symbol
        ),
        "libc10.so": library(defined="cusparseOfferedByTorch"),
    }
    homes = [made.soname for made in cuda_standins.stand_ins(libraries) if made.symbols.get("")]
    assert homes == ([home] if home else [])


def test_a_cpu_build_needs_none() -> None:
    assert cuda_standins.stand_ins({"libtorch.so": library("libc10.so libc.so.6 libgomp.so.1")}) == []


def _compile(*arguments: str | Path) -> None:
    subprocess.run(["cc", "-shared", "-fPIC", *map(str, arguments)], check=True)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site-packages with a torch that is linked against a CUDA, which is then taken away."""
    site, cuda = tmp_path / "site", tmp_path / "cuda"
    (site / "torch" / "lib").mkdir(parents=True)
    (site / "torchvision").mkdir()
    cuda.mkdir()
    (tmp_path / "cudart.c").write_text(
        "int cudaMalloc(void) { return 0; }\nint cudaFree(void) { return 0; }\n"
    )
    (tmp_path / "cudart.map").write_text("v12 { global: cudaMalloc; cudaFree; };\n")
    (tmp_path / "nccl.c").write_text("int ncclSend(void) { return 0; }\n")
    (tmp_path / "torch.c").write_text(
        "int cudaMalloc(void); int ncclSend(void); int Py_IsInitialized(void);\n"
        "int call(void) { return cudaMalloc() + ncclSend(); }\n"
        "int interpreter(void) { return Py_IsInitialized(); }\n"
    )
    cudart, nccl = cuda / "libcudart.so.12", cuda / "libnccl.so.2"
    script = f"-Wl,--version-script,{tmp_path / 'cudart.map'}"
    _compile(tmp_path / "cudart.c", "-o", cudart, "-Wl,-soname,libcudart.so.12", script)
    _compile(tmp_path / "nccl.c", "-o", nccl, "-Wl,-soname,libnccl.so.2")
    for name in ("torch/lib/libtorch_python.so", "torch/lib/libtorch_global_deps.so", "torchvision/_C.so"):
        _compile("-Wl,--no-as-needed,-z,lazy", tmp_path / "torch.c", cudart, nccl, "-o", site / name)
    shutil.rmtree(cuda)
    return site


def test_a_library_loads_with_the_stand_ins_and_not_without(site: Path, tmp_path: Path) -> None:
    wanted = cuda_standins.stand_ins(cuda_standins.loaded_with_torch(site))
    assert wanted == [
        StandIn("libcudart.so.12", {"v12": {"cudaMalloc"}}),
        StandIn("libnccl.so.2", {"": {"ncclSend"}}),
    ]
    torch = str(site / "torch" / "lib" / "libtorch_python.so")
    with pytest.raises(OSError, match=r"libcudart\.so\.12: cannot open"):
        ctypes.CDLL(torch)
    out = tmp_path / "standins"
    cuda_standins.build(wanted, out, compiler="cc", variables=os.environ, log=tmp_path / "log")
    for name in ("libcudart.so.12", "libnccl.so.2"):
        ctypes.CDLL(str(out / name), mode=ctypes.RTLD_GLOBAL)
    assert ctypes.CDLL(torch).call() == 200, "each says 100, cudaErrorNoDevice"


@pytest.mark.parametrize(
    "name", ["cudaGetErrorString", "cudnnGetErrorString", "cudaGetErrorName", "ncclGetLastError"]
)
def test_a_function_that_puts_errors_into_words_returns_words(tmp_path: Path, name: str) -> None:
    wanted = [StandIn("libx.so.1", {"": {name, "cudaGetLastError"}})]
    cuda_standins.build(wanted, tmp_path, compiler="cc", variables=os.environ, log=tmp_path / "log")
    made = ctypes.CDLL(str(tmp_path / "libx.so.1"))
    assert made.cudaGetLastError() == 100
    words = getattr(made, name)
    words.restype = ctypes.c_char_p
    assert b"no CUDA device" in words()


@pytest.mark.parametrize(("content", "says"), [(None, "not there"), (b"text", "not a shared library")])
def test_a_torch_that_is_not_one_is_told(site: Path, content: bytes | None, says: str) -> None:
    path = site / "torchvision" / "_C.so"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnusableError, match=says) as raised:
        cuda_standins.loaded_with_torch(site)
    assert str(path) in str(raised.value)


def test_a_compiler_that_fails_is_told_with_its_log(tmp_path: Path) -> None:
    bad = [StandIn("libcudart.so.12", {"": {"not a name"}})]
    with pytest.raises(UnusableError, match=r"stand-in for libcudart\.so\.12 failed .*error: .*full log is"):
        cuda_standins.build(bad, tmp_path, compiler="cc", variables=os.environ, log=tmp_path / "log")


@pytest.mark.environment
def test_torch_imports_with_no_gpu_and_no_cuda_library(environment: Environment) -> None:
    # transformers 5 asks the last at each step: without words for the error it ended in a crash.
    show = """
import torch, torchvision
print(torch.__version__, torch.cuda.is_available())
try:
    torch.cuda.is_current_stream_capturing()
except RuntimeError as error:
    print(error)
"""
    run = subprocess.run(
        [environment.python, "-c", show],
        env=environment.build_variables(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split()[0].startswith(environment.variant.component("torch").version)
    assert run.stdout.split()[1] == "False"
    if environment.cuda_standins.is_dir():
        assert "no CUDA device" in run.stdout
    assert not list(environment.site_packages.glob("nvidia*"))
