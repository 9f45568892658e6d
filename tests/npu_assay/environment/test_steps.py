"""Steps that install, as far as that goes without an index, and what they refuse."""

import hashlib
import platform
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from npu_assay.environment.cmake import cmake_version
from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import Installed, installed
from npu_assay.environment.pip import pip_install
from npu_assay.environment.steps import python, system, triton
from npu_assay.environment.steps.step import Facts
from npu_assay.environment.steps.triton import require_only_triton
from npu_assay.errors import UnusableError


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its index, by the user's own setting, with one wheel in it."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    with zipfile.ZipFile(folder / "vllm-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("vllm/__init__.py", "")
        wheel.writestr("vllm-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: vllm\nVersion: 1.0\n")
        wheel.writestr(
            "vllm-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr("vllm-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_pip_takes_the_users_settings_and_checks_the_hash(with_venv: Environment, wheels: Path) -> None:
    sha256 = hashlib.sha256((wheels / "vllm-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    line = f"vllm==1.0 --hash=sha256:{sha256}"
    pip_install(with_venv, "vllm", [line])
    assert installed(with_venv.site_packages)["vllm"].version == "1.0"
    assert (with_venv.root / "steps" / "vllm.requirements.txt").read_text() == line + "\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (f"vllm==1.0 --hash=sha256:{'0' * 64}", "HASHES|HASH"),
        ("vllm==1.0", "hashes are required|Hashes are required"),
        (
            f"absent==1.0 --hash=sha256:{'0' * 64}",
            "no version of absent|satisfies the requirement absent==1.0",
        ),
    ],
)
def test_what_pip_refuses_is_one_line_and_the_log(
    with_venv: Environment, wheels: Path, line: str, says: str
) -> None:
    with pytest.raises(UnusableError) as raised:
        pip_install(with_venv, "vllm", [line])
    message = str(raised.value)
    assert re.search(says, message)
    assert message.startswith("step vllm: pip install failed (1): ")
    assert message.endswith(f"the full log is {with_venv.root / 'logs' / 'vllm.log'}")
    assert "\n" not in message
    assert "vllm" not in installed(with_venv.site_packages)


def test_the_python_step_makes_a_venv(small: Environment) -> None:
    (small.root / "steps").mkdir(parents=True)
    facts = python.STEP.run(small, print)
    assert small.python.exists()
    assert facts["python"] == str(python.base_python("3.11"))
    with pytest.raises(UnusableError, match=r"python3\.9: not there; the lock wants Python 3\.9"):
        python.base_python("3.9")


def test_a_machine_that_lacks_a_tool_is_told(small: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    assert system.STEP.run(small, print)["architecture"] == platform.machine()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnusableError, match=r"no cc on PATH; \./assay installs it"):
        system.STEP.run(small, print)


@pytest.mark.parametrize(
    ("version", "good"), [("3.22.0", True), ("4.0.1", True), ("3.21.9", False), ("x", False)]
)
def test_an_old_cmake_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, good: bool
) -> None:
    cmake = tmp_path / "cmake"
    cmake.write_text(f"#!/bin/sh\necho cmake version {version}\n")
    cmake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    if good:
        assert cmake_version() == version
    else:
        with pytest.raises(UnusableError, match=r"CMake is .*, expected 3\.22 or later"):
            cmake_version()


def test_no_triton_distribution_beside_triton_ascend() -> None:
    ascend = Installed("triton-ascend", "3.2.0", Path("triton_ascend.dist-info"))
    require_only_triton({"triton-ascend": ascend})
    other = Installed("triton", "3.5.0", Path("triton.dist-info"))
    with pytest.raises(UnusableError, match=r"the distribution triton 3\.5\.0 is beside triton-ascend"):
        require_only_triton({"triton-ascend": ascend, "triton": other})


def test_the_step_of_triton_goes_by_the_version(
    with_venv: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triton, "installed", lambda site: {})
    monkeypatch.setattr(triton.triton_edit, "apply", lambda site: True)
    package = with_venv.site_packages / "triton"
    package.mkdir()

    def step(version: str) -> Facts:
        monkeypatch.setattr(triton, "install_components", lambda *_: {"triton-ascend": version})
        return triton.STEP.run(with_venv, print)

    try:
        assert step("3.2.0")["edited"] is True
        assert step("3.2.1") == {"triton-ascend": "3.2.1", "edited": False}
        (package / "driver.py").write_text("def set_device_limit(): ...\n")
        assert step("3.2.0.dev20260322")["edited"] is False, "it ran with the function, on CANN 8.5.1"
        with pytest.raises(
            UnusableError, match=r"triton-ascend 3\.2\.1 still has set_device_limit, in driver\.py"
        ):
            step("3.2.1")
    finally:
        shutil.rmtree(package)


@pytest.mark.environment
def test_the_installed_environment_is_the_locks(environment: Environment) -> None:
    there = installed(environment.site_packages)
    for name in ("torch", "torchvision", "torch-npu", "triton-ascend", "vllm", "vllm-ascend"):
        assert there[name].version == environment.variant.component(name).version
    require_only_triton(there)
    assert environment.cann.innerversion() == environment.variant.component("cann").build
