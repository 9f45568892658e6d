"""Every difference between a lock and a site-packages folder is found, with what mends it."""

import platform
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from packages_tree import DRIVER, add, install, look_at, remove

from npu_assay.cann.discovery import Places
from npu_assay.diagnosis import Level
from npu_assay.environment.drift.look import CannPlaces, Look, version_of_venv
from npu_assay.environment.drift.packages import is_version
from npu_assay.environment.drift.report import report
from npu_assay.environment.lock import Component, load_lock
from npu_assay.environment.variant import Variant

LIMIT = "def set_device_limit(): ...\n"


@pytest.fixture
def variant() -> Variant:
    return Variant.of(load_lock(), "emulated")


@pytest.fixture
def site(tmp_path: Path, variant: Variant) -> Path:
    folder = tmp_path / "site-packages"
    install(folder, variant)
    assert report(look_at(folder, variant), deep=True).differences == ()
    return folder


def _rewrite_triton(site: Path) -> None:
    """triton-ascend as its wheel has it: RECORD fits, the edit was not made."""
    remove(site, "triton-ascend")
    add(site, "triton-ascend", "3.2.0", {DRIVER: LIMIT, "triton/backends/ascend/npu_utils.cpp": ""})


def _another_version(name: str, version: str) -> Callable[[Path], None]:
    def change(site: Path) -> None:
        remove(site, name)
        add(site, name, version, {f"{name}.py": ""})

    return change


@dataclass(frozen=True)
class Fault:
    """A way to break the folder and the difference that must come of it."""

    make: Callable[[Path], object]
    check: str
    subject: str
    says: str
    advises: str
    level: Level = Level.PROBLEM


FAULTS = {
    "torch of another version": Fault(
        _another_version("torch", "2.10.0"),
        "component-version",
        "torch",
        "torch is 2.10.0, the lock says 2.9.0",
        "-m pip install --no-deps --force-reinstall torch==2.9.0",
    ),
    "component missing": Fault(
        lambda site: remove(site, "vllm-ascend"),
        "component-missing",
        "vllm-ascend",
        "vllm-ascend is not installed, the lock says 0.18.0",
        "install --no-deps --force-reinstall vllm-ascend==0.18.0",
    ),
    "vLLM is built as the lock has it": Fault(
        lambda site: remove(site, "vllm"),
        "component-missing",
        "vllm",
        "vllm is not installed",
        "VLLM_TARGET_DEVICE=empty /venv/bin/python -m pip install",
    ),
    "requirement of another version": Fault(
        _another_version("numpy", "2.2.0"),
        "requirement-version",
        "numpy",
        "numpy is 2.2.0, the lock says 1.26.4",
        "/venv/bin/python -m pip install --no-deps numpy==1.26.4",
    ),
    "requirement missing": Fault(
        lambda site: remove(site, "scipy"),
        "requirement-missing",
        "scipy",
        "scipy is not installed",
        "pip install --no-deps scipy==",
    ),
    "two of one name": Fault(
        lambda site: add(site, "torch", "2.10.0", {}),
        "duplicate-distribution",
        "torch",
        "torch is installed 2 times, as 2.10.0, 2.9.0",
        "-m pip uninstall -y torch; /venv/bin/python -m pip uninstall -y torch; /venv/bin/python -m pip"
        " install --no-deps --force-reinstall torch==2.9.0",
    ),
    "not in the lock": Fault(
        lambda site: add(site, "nvidia-cublas-cu12", "12.8.4.1", {}),
        "extra-distribution",
        "nvidia-cublas-cu12",
        "nvidia-cublas-cu12 12.8.4.1 is installed, the lock does not name it",
        "",
        Level.WARNING,
    ),
    "triton beside triton-ascend": Fault(
        lambda site: add(site, "triton", "3.5.0", {}),
        "other-triton",
        "triton",
        "triton 3.5.0 is installed beside triton-ascend, and both own the package triton",
        "pip uninstall -y triton; /venv/bin/python -m pip uninstall -y triton-ascend; /venv/bin/python -m pip"
        " install --no-deps triton-ascend==3.2.0 && npu-assay env edit-triton --python /venv/bin/python",
    ),
    "triton-ascend not edited": Fault(
        _rewrite_triton,
        "triton-edit",
        "triton-ascend",
        f"not patched: {DRIVER} still has set_device_limit",
        "npu-assay env edit-triton --python /venv/bin/python",
    ),
    "files gone": Fault(
        lambda site: shutil.rmtree(site / "triton"),
        "distribution-files",
        "triton-ascend",
        f"3 of 5 files are gone: triton/__init__.py, {DRIVER}",
        "uninstall -y triton-ascend",
    ),
    "file of another size": Fault(
        lambda site: (site / "vllm_ascend" / "vllm_ascend_C.so").write_text("another binary"),
        "distribution-files",
        "vllm-ascend",
        "1 of 5 files are not as installed: vllm_ascend/vllm_ascend_C.so",
        "--force-reinstall vllm-ascend==0.18.0",
    ),
    "Python edited in place": Fault(
        lambda site: (site / DRIVER).write_text("def load(): xxx\n"),
        "distribution-files",
        "triton-ascend",
        f"1 of 5 files are not as installed: {DRIVER}",
        "triton-ascend==3.2.0",
    ),
    "no RECORD": Fault(
        lambda site: (site / "torch-2.9.0.dist-info" / "RECORD").unlink(),
        "distribution-files",
        "torch",
        "has no RECORD",
        "torch==2.9.0",
    ),
    "RECORD that is empty": Fault(
        lambda site: (site / "torch-2.9.0.dist-info" / "RECORD").write_text(""),
        "distribution-files",
        "torch",
        "RECORD: does not name itself, so it was cut short",
        "torch==2.9.0",
    ),
    "METADATA that is none": Fault(
        lambda site: (site / "torch-2.9.0.dist-info" / "METADATA").write_bytes(b"\xf0(\x00"),
        "component-missing",
        "torch",
        "torch is not installed, the lock says 2.9.0",
        "torch==2.9.0",
    ),
    "RECORD that is none": Fault(
        lambda site: (site / "torch-2.9.0.dist-info" / "RECORD").write_text("torch/x.py,many\n"),
        "distribution-files",
        "torch",
        "RECORD:1: expected path,algorithm=digest,size, found 'torch/x.py,many'",
        "torch==2.9.0",
    ),
    "plug-in missing": Fault(
        lambda site: remove(site, "vllm-ascend-params"),
        "adaptations",
        "vllm-ascend-params",
        "the plug-in vllm-ascend-params is not installed",
        "-m pip install --no-deps ",
    ),
    "plug-in of another checkout": Fault(
        lambda site: (site / "vllm_ascend_params" / "plugin.py").write_text(""),
        "adaptations",
        "vllm-ascend-params",
        "is not that of",
        "src/vllm_ascend_params",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_difference_is_found_and_mended(site: Path, variant: Variant, name: str) -> None:
    fault = FAULTS[name]
    fault.make(site)
    [found] = report(look_at(site, variant)).differences
    assert (found.check, found.subject, found.level) == (fault.check, fault.subject, fault.level)
    assert fault.says in found.message
    assert fault.advises in (found.advice or "")
    assert "\n" not in found.message
    assert report(look_at(site, variant)).drifted == (fault.level is Level.PROBLEM)
    # In an environment of npu-assay's one command mends everything.
    [found] = report(look_at(site, variant, again="npu-assay env install --again")).differences
    assert found.advice == ("npu-assay env install --again" if fault.level is Level.PROBLEM else None)


def test_all_differences_are_told_not_the_first(site: Path, variant: Variant) -> None:
    for name in ("torch of another version", "requirement missing", "triton beside triton-ascend"):
        FAULTS[name].make(site)
    (site / "vllm_ascend" / "vllm_ascend_C.so").unlink()
    remove(site, "vllm-ascend-params")
    assert [(found.check, found.subject) for found in report(look_at(site, variant)).differences] == [
        ("component-version", "torch"),
        ("other-triton", "triton"),
        ("adaptations", "vllm-ascend-params"),
        ("requirement-missing", "scipy"),
        ("distribution-files", "vllm-ascend"),
    ]


def test_bytes_that_only_a_deep_look_reads(site: Path, variant: Variant) -> None:
    library = site / "vllm_ascend" / "vllm_ascend_C.so"
    library.write_text("yranib")
    assert report(look_at(site, variant)).differences == ()
    [found] = report(look_at(site, variant), deep=True).differences
    assert (found.check, found.subject) == ("distribution-files", "vllm-ascend")


def test_compiled_python_may_come_and_go(site: Path, variant: Variant) -> None:
    record = site / "torch-2.9.0.dist-info" / "RECORD"
    record.write_text(record.read_text() + "torch/__pycache__/x.cpython-311.pyc,,\n")
    assert report(look_at(site, variant), deep=True).differences == ()


@pytest.mark.parametrize(
    ("kind", "python", "differs"),
    [
        ("emulated", "3.11.2", False),
        ("emulated", "3.12.0", True),
        ("hardware", "3.11.6", False),
        ("hardware", "3.11.2", True),
        ("hardware", None, False),
    ],
)
def test_the_whole_version_of_python_counts_on_hardware_alone(
    tmp_path: Path, kind: str, python: str | None, differs: bool
) -> None:
    variant = Variant.of(load_lock(), kind)  # type: ignore[arg-type]
    look = look_at(tmp_path, variant)
    look = Look(variant, tmp_path, look.mend, python_version=python)
    found = [difference.check for difference in report(look).differences]
    assert ("python-version" in found) == differs


@pytest.mark.parametrize(
    ("found", "same"),
    [
        ("0.18.0", True),
        ("0.18.0+empty", True),
        ("0.1.dev1+g72dc68973", True),
        ("0.1.dev1+g1234567", False),
        ("0.18.0rc1", False),
        ("not a version", False),
    ],
)
def test_a_build_of_the_same_version_is_the_version(found: str, same: bool) -> None:
    commit = "72dc68973bd7e6ceef9a122de316a7ee9c9a84aa"
    component = Component(version="0.18.0", source="git", repository="https://example.org", commit=commit)
    assert is_version(found, component) == same


def test_a_plugin_that_is_installed_editable_is_looked_at_where_it_is(site: Path, variant: Variant) -> None:
    package = site.parent / "checkout" / "vllm_ascend_params"
    shutil.move(site / "vllm_ascend_params", package)
    info = site / "vllm_ascend_params-0.1.0.dist-info"
    url = package.parent.as_uri()
    (info / "direct_url.json").write_text(f'{{"url": "{url}", "dir_info": {{"editable": true}}}}')
    assert report(look_at(site, variant)).differences == ()
    (package / "plugin.py").write_text("")
    [found] = report(look_at(site, variant)).differences
    assert str(package) in found.message


def test_a_later_triton_ascend_must_not_have_the_function_and_an_earlier_one_may(tmp_path: Path) -> None:
    emulated = Variant.of(load_lock(), "emulated")
    for version, told in (("3.2.1", True), ("3.2.0", True), ("3.2.0.dev20260322", False)):
        folder = tmp_path / version
        install(folder, emulated)
        remove(folder, "triton-ascend")
        add(folder, "triton-ascend", version, {DRIVER: LIMIT})
        checks = [difference.check for difference in report(look_at(folder, emulated)).differences]
        assert ("triton-edit" in checks) == told, version


def test_cann_is_the_locks_build_with_nnal(site: Path, variant: Variant, tmp_path: Path) -> None:
    root = tmp_path / "Ascend"
    places = Places(root=root, usual=root, host_info=root / "none")
    look = replace(look_at(site, variant), cann=CannPlaces(places, {}))
    [found] = report(look).differences
    assert (found.check, found.subject, found.expected) == ("cann-build", "cann", "9.0.0 (EMULATED)")
    assert f"no CANN below {root}" in found.message
    info = root / "cann" / f"{platform.machine()}-linux" / "ascend_toolkit_install.info"
    atb = root / "nnal" / "atb" / "latest" / "version.info"
    for file, text in (
        (info, "package_name=Ascend-cann-toolkit\nversion=9.0.0\ninnerversion=EMULATED\n"),
        (atb, "Ascend-cann-atb : 9.0.0\nAscend-cann-atb Version : 9.0.0.EMULATED\n"),
    ):
        file.parent.mkdir(parents=True)
        file.write_text(text)
    assert report(look).differences == ()
    info.write_text(info.read_text().replace("EMULATED", "V100R001C10SPC001B160"))
    shutil.rmtree(root / "nnal")
    nnal, cann = report(look).differences
    assert nnal.message == f"no NNAL below {root}"
    assert "innerversion is V100R001C10SPC001B160, expected EMULATED" in cann.message


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("home = /usr/bin\nversion = 3.11.2\n", "3.11.2"),
        ("home = /usr/bin\nversion_info = 3.11.2.final.0\n", "3.11.2"),
        ("home = /usr/bin\n", None),
    ],
)
def test_the_python_of_a_venv_is_read_from_its_own_file(
    tmp_path: Path, text: str, version: str | None
) -> None:
    assert version_of_venv(tmp_path) is None
    (tmp_path / "pyvenv.cfg").write_text(text)
    assert version_of_venv(tmp_path) == version
