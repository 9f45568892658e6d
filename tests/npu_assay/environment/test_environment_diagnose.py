"""What doctor is told about an environment: faults with the command that mends them, and known facts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from packages_tree import DRIVER, add, install, look_at, remove

from npu_assay.diagnosis import Diagnosis, Level
from npu_assay.environment.diagnose import diagnose, diagnose_packages
from npu_assay.environment.environment import Environment
from npu_assay.environment.lock import load_lock
from npu_assay.environment.plugins import module_is_there
from npu_assay.environment.variant import Variant


@pytest.fixture
def variant() -> Variant:
    return Variant.of(load_lock(), "emulated")


@pytest.fixture
def site(tmp_path: Path, variant: Variant) -> Path:
    folder = tmp_path / "site-packages"
    install(folder, variant)
    return folder


def told(site: Path, variant: Variant) -> list[Diagnosis]:
    return diagnose_packages(look_at(site, variant))


def _triton_uninstalled(site: Path) -> None:
    """pip's way, after upstream's triton wrote over files of triton-ascend (vllm-ascend PR #7790)."""
    add(site, "triton", "3.6.0", {"triton/__init__.py": "", DRIVER: "# upstream's\n"})
    remove(site, "triton")


def _set_limit(site: Path) -> None:
    remove(site, "triton-ascend")
    add(site, "triton-ascend", "3.2.0", {DRIVER: "def set_device_limit(): ...\n"})


def _torch_210(site: Path) -> None:
    remove(site, "torch")
    add(site, "torch", "2.10.0", {"torch/__init__.py": ""})


REINSTALL_TRITON = (
    "/venv/bin/python -m pip uninstall -y triton && /venv/bin/python -m pip uninstall -y triton-ascend &&"
    " /venv/bin/python -m pip install --no-deps triton-ascend==3.2.0"
)


@pytest.mark.parametrize(
    ("plant", "check", "says", "advises"),
    [
        (
            lambda site: add(site, "triton", "3.6.0", {}),
            "other-triton",
            "triton 3.6.0 is installed beside triton-ascend",
            REINSTALL_TRITON,
        ),
        (_triton_uninstalled, "distribution-files", f"gone: triton/__init__.py, {DRIVER}", REINSTALL_TRITON),
        (_set_limit, "triton-edit", "triton-ascend 3.2.0 is not patched", "npu-assay env edit-triton"),
        (_torch_210, "component-version", "torch is 2.10.0, the lock says 2.9.0", "torch==2.9.0"),
        (
            lambda site: remove(site, "vllm-ascend-params"),
            "adaptations",
            "the plug-in vllm-ascend-params is not installed",
            "pip install --no-deps",
        ),
    ],
)
def test_a_planted_fault_is_a_problem_with_its_command(
    site: Path, variant: Variant, plant: Callable[[Path], object], check: str, says: str, advises: str
) -> None:
    assert [diagnosis.level for diagnosis in told(site, variant)] == [Level.GOOD]
    plant(site)
    [diagnosis] = told(site, variant)
    assert (diagnosis.check, diagnosis.level) == (check, Level.PROBLEM)
    assert says in diagnosis.message
    assert advises in str(diagnosis.advice)


def test_what_is_good_names_the_versions(site: Path, variant: Variant) -> None:
    [good] = told(site, variant)
    assert good.message.startswith("cann900-vllm018 (emulated) is as the lock says: torch 2.9.0, ")


def test_a_plugin_without_its_module_is_told_and_is_not_fatal(site: Path, variant: Variant) -> None:
    entry = "[vllm.general_plugins]\nprofiler = msserviceprofiler.modelevalstate.common:register\n"
    add(site, "msserviceprofiler", "1.0", {}, entry)
    good, plugin, extra = told(site, variant)
    assert (good.level, extra.check) == (Level.GOOD, "extra-distributions")
    assert (plugin.check, plugin.level) == ("vllm-plugin-module", Level.WARNING)
    assert "plug-in profiler (vllm.general_plugins) of msserviceprofiler" in plugin.message
    assert (
        "msserviceprofiler.modelevalstate.common is not there; vLLM logs that and goes on" in plugin.message
    )
    module = site / "msserviceprofiler" / "modelevalstate" / "common.py"
    module.parent.mkdir(parents=True)
    module.touch()
    assert "vllm-plugin-module" not in {diagnosis.check for diagnosis in told(site, variant)}


@pytest.mark.parametrize("file", ["METADATA", "entry_points.txt"])
def test_a_file_that_cant_be_read_hides_no_other_finding(site: Path, variant: Variant, file: str) -> None:
    info = add(site, "broken", "1.0", {}, "[vllm.general_plugins]\nprofiler = !!\n")
    remove(site, "vllm-ascend")
    checks = [diagnosis.check for diagnosis in told(site, variant)]
    assert checks == ["component-missing", "vllm-plugin-module", "extra-distributions"]
    (info / file).write_bytes(b"\xf0(\x00")
    assert told(site, variant)[0].check == "component-missing"
    (info / file).unlink()
    (info / file).symlink_to(file)
    assert told(site, variant)[0].check == "component-missing"


@pytest.mark.parametrize(
    ("file", "module", "there"),
    [
        ("a/b/__init__.py", "a.b", True),
        ("a/b.py", "a.b", True),
        ("a/b.cpython-311-x86_64-linux-gnu.so", "a.b", True),
        ("a/b.so", "a.b", True),
        ("a/bc.py", "a.b", False),
        ("b.py", "a.b", False),
    ],
)
def test_where_a_module_may_be(tmp_path: Path, file: str, module: str, there: bool) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / file).parent.mkdir(parents=True)
    (elsewhere / file).touch()
    assert module_is_there(elsewhere, module) == there
    site = tmp_path / "site-packages"
    site.mkdir()
    assert not module_is_there(site, module)
    (site / "editable.pth").write_text(f"import x\n{elsewhere}\n")
    assert module_is_there(site, module) == there


def test_many_requirements_are_one_line(site: Path, variant: Variant) -> None:
    for name in ("numpy", "scipy", "aiohttp", "pydantic", "uvicorn", "fastapi"):
        remove(site, name)
    [diagnosis] = told(site, variant)
    assert diagnosis.check == "requirements"
    assert " requirements are not as the lock says: aiohttp missing, " in diagnosis.message
    assert diagnosis.message.startswith("6 of ")
    assert diagnosis.message.endswith(" and 1 more")
    assert str(variant.lock.requirements_file) in str(diagnosis.advice)


def test_what_the_lock_knows_is_told(tmp_path: Path) -> None:
    variant = Variant.of(load_lock("cann900-vllm018-torch210"), "hardware")
    diagnoses = diagnose_packages(look_at(tmp_path, variant))
    notes = [diagnosis.message for diagnosis in diagnoses if diagnosis.check == "component-note"]
    assert any("lmcache-ascend 0.4.4: Known defect of 79fc599" in note for note in notes)
    [unverified] = [diagnosis for diagnosis in diagnoses if diagnosis.check == "unverified"]
    assert "no hash is recorded for cann, cann-ops, nnal: formal mode refuses" in unverified.message
    assert unverified.advice == "npu-assay env lock cann900-vllm018-torch210 --record FILE"
    emulated = Variant.of(variant.lock, "emulated")
    absent = [
        d.message for d in diagnose_packages(look_at(tmp_path, emulated)) if d.check == "component-absent"
    ]
    assert len(absent) == len(emulated.absent)


def test_an_environment_that_is_not_there_says_how_to_install_it(small: Environment) -> None:
    [diagnosis] = diagnose(small)
    assert (diagnosis.check, diagnosis.level) == ("environment-installed", Level.PROBLEM)
    assert diagnosis.advice == "npu-assay env install small --device emulated"


def test_one_that_this_release_cannot_install_is_made_by_its_user(tmp_path: Path) -> None:
    advice = {}
    for name in ("cann900-vllm018", "cann900-vllm018-torch210"):
        [diagnosis] = diagnose(Environment.of(load_lock(name), "hardware", cache=tmp_path))
        advice[name] = diagnosis.advice or ""
    assert advice["cann900-vllm018"] == "npu-assay env install cann900-vllm018 --device npu"
    assert advice["cann900-vllm018-torch210"].startswith(
        "make it in a venv of your own, then npu-assay doctor cann900-vllm018-torch210 --device npu"
    )


@pytest.mark.environment
def test_the_installed_environment_is_good(environment: Environment) -> None:
    worse = {Level.PROBLEM, Level.WARNING}
    assert [diagnosis for diagnosis in diagnose(environment) if diagnosis.level in worse] == []
