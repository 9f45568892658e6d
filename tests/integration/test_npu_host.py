"""`run --device npu` from the first look at the nodes to the verdict, on a host that is planted.

The wheels of a hardware environment can't be installed everywhere, so that of the emulated one stands in.
"""

import fcntl
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from planted_npu_host import BUILD, PlantedNpuHost

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import verify
from npu_assay.cli import main
from npu_assay.commands import run as run_module
from npu_assay.environment.environment import Environment
from npu_assay.environment.variant import Variant
from npu_assay.evidence.manifest import Manifest, StageStatus, read_manifest

pytestmark = pytest.mark.environment

STAGES = ("cann", "versions-and-paths", "health", "health-after")


@pytest.fixture
def host(environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlantedNpuHost:
    host = PlantedNpuHost(tmp_path / "host", environment.cann.root)
    hardware, emulated = (Variant.of(environment.lock, kind) for kind in ("hardware", "emulated"))
    own = {"vllm-ascend": emulated.components["vllm-ascend"]}  # a wheel, so that nothing is compiled
    variant = replace(hardware, components={**hardware.components, **own})
    on_host = replace(environment, variant=variant)
    monkeypatch.setattr(run_module.Environment, "of", lambda lock, kind: on_host)
    monkeypatch.setattr(run_module, "install", lambda environment, progress: None)
    for name, value in host.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{host.tools}{os.pathsep}{os.environ['PATH']}")
    return host


def run(host: PlantedNpuHost, out: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, Manifest]:
    stages = [word for stage in STAGES for word in ("--stage", stage)]
    words = ["run", "--device", "npu", "--dev", str(host.dev), *stages, "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["npu-assay", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0), read_manifest(out / "manifest.json")


def test_a_relabelled_emulator_never_passes_for_hardware(
    host: PlantedNpuHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    code, manifest = run(host, out, monkeypatch)
    said = capfd.readouterr().out
    assert {stage.name: stage.status for stage in manifest.stages if stage.name in STAGES} == {
        "cann": StageStatus.PASS,
        "versions-and-paths": StageStatus.FAIL,
        "health": StageStatus.PASS,
        "health-after": StageStatus.PASS,
    }, said
    assert code == 1

    # Everything before that is as on an NPU: the first free die is taken, seen alone, and given back.
    assert (manifest.device.kind, manifest.device.visible_devices) == ("hardware", "1")
    for stage in ("health", "health-after"):
        log = (out / f"stages/{stage}.log").read_text()
        assert "npu-health: the run sees NPU 1 chip 0\n" in log
    with (host.locks / "die-0000-01-00.0-0.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    (plog,) = (out / "plog/versions-and-paths").rglob("plog-*.log")
    assert plog.read_text() == "[ERROR] RUNTIME: planted\n"

    # The library that was loaded says what it is, whatever the files beside it say.
    assert BUILD in (out / "cann/toolkit/ascend_toolkit_install.info").read_text()
    log = (out / "stages/versions-and-paths.log").read_text()
    assert "this stage runs for hardware, but the CANN that is loaded says: EMULATED" in log
    refused = verify(out, Mode.FORMAL)
    assert refused.emulated
    assert "the run was emulated (stages/versions-and-paths.log:" in refused.findings[-1].message
    contradiction = "manifest.json says device kind hardware, but stages/versions-and-paths.log"
    for mode in (Mode.LIMITED, Mode.EMULATED):
        failed = [one.message for one in verify(out, mode).findings if one.result is Result.FAIL]
        assert any(message.startswith(contradiction) for message in failed)
        assert any(f"the kept install info says {BUILD}" in message for message in failed)
        assert not any(message.startswith("health") for message in failed)


def test_a_cann_of_another_build_is_refused_before_a_die_is_taken(
    host: PlantedNpuHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    info = next(host.root.glob("cann-9.0.0/*-linux/ascend_toolkit_install.info"))
    info.write_text(info.read_text().replace(BUILD, BUILD.replace("B250", "B243")))
    monkeypatch.setattr(
        sys, "argv", ["npu-assay", "run", "--dev", str(host.dev), "--out", str(tmp_path / "run")]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 4
    said = capfd.readouterr().err
    assert "B243" in said
    assert said.endswith("mend that, or run without the NPU: --device emulated\n")
    assert not (tmp_path / "run").exists()
    assert not host.locks.exists()


@pytest.mark.parametrize("visible", [None, "1"])
def test_stages_see_the_taken_dies_alone_on_the_emulator_too(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None
) -> None:
    monkeypatch.setattr(run_module.Environment, "of", lambda lock, kind: environment)
    monkeypatch.setenv("EMUCANN_DEVICES", "2")
    monkeypatch.delenv("ASCEND_RT_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", visible)
    words = ["run", "--device", "emulated", "--stage", "versions-and-paths", "--out", str(tmp_path / "run")]
    monkeypatch.setattr(sys, "argv", ["npu-assay", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    device = read_manifest(tmp_path / "run/manifest.json").device
    assert (device.kind, device.visible_devices, len(device.dies)) == ("emulated", visible or "0", 1)
    log = (tmp_path / "run/stages/versions-and-paths.log").read_text()
    assert "device: 1 x Ascend910B3, emulated\n" in log
