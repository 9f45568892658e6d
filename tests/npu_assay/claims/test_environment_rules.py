"""What was loaded, on which device, from which inputs: raw files and manifest agree."""

import json
from collections.abc import Callable

import pytest
from offload_archive import (
    ASCEND,
    INPUTS,
    LIBRARY,
    LIBRARY_SHA256,
    STUBS,
    Change,
    OffloadArchive,
    messages,
    to_hardware,
)

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.evidence.loaded import LoadedRecord

LOG, FACTS = "stages/versions-and-paths.log", "environment.json"
SITE = "/venv/lib/python3.11/site-packages/"


def facts(edit: Callable[[dict], object]) -> Change:
    """In environment.json."""

    def change(offload: OffloadArchive) -> None:
        document = json.loads((offload.root / FACTS).read_text())
        edit(document)
        offload.write(FACTS, json.dumps(document))

    return change


def both(old: str, new: str) -> Change:
    """In the log and in environment.json alike."""
    return lambda offload: [offload.replace(name, old, new) for name in (LOG, FACTS)]


def forged(change: Change) -> Change:
    """The manifest says what it said before."""

    def edit(offload: OffloadArchive) -> None:
        offload.record()
        offload.forged = True
        change(offload)

    return edit


def device(**changes: object) -> Change:
    return forged(lambda o: o.change_manifest(device=o.manifest.device.model_copy(update=changes)))


FAULTS: dict[str, tuple[Change, str]] = {
    "another version in environment.json": (
        facts(lambda d: d["packages"][0].update(version="2.9.1")),
        "versions/3: environment.json says 'torch 2.9.1 /",
    ),
    "a component left out of environment.json": (
        facts(lambda d: d["packages"].pop()),
        "versions/3: vllm-ascend: 0 times in environment.json",
    ),
    "other components in the manifest": (
        forged(lambda o: o.change_manifest(loaded={"vllm": LoadedRecord(version="1", file="/x")})),
        "versions/3: the manifest's loaded components are not those of environment.json: torch, torch-npu",
    ),
    "a package from elsewhere": (
        both(f"{SITE}vllm/", "/venv/lib/python3.11/dist/vllm/"),
        "versions/3: vllm was loaded from ",
    ),
    "a package of another environment": (
        both(f"-0123456789abcdef{SITE}torch/", f"-fedcba9876543210{SITE}torch/"),
        "versions/3: torch was loaded from ",
    ),
    "a path that climbs": (
        both(f"{SITE}torch/", f"{SITE}../torch/"),
        "versions/3: torch was loaded from ",
    ),
    "another Python": (both("3.11.7", "3.12.1"), "versions/3: Python 3.12.1 ran, the lock says 3.11.6"),
    "another Python in the log": (
        lambda o: o.replace(LOG, "python 3.11.7", "python 3.11.8"),
        "versions/3: environment.json says 'python 3.11.7 ",
    ),
    "another compiled module": (
        facts(lambda d: d["vllm_ascend_binding"].update(sha256="c" * 64)),
        "versions/3: the log does not name ",
    ),
    "a rebuilt module that the manifest does not know": (
        facts(lambda d: d["vllm_ascend_binding"].update(replaces={"torch": "2.10.0"})),
        "versions/3: the compiled module is ",
    ),
    "another device in the log": (
        lambda o: o.replace(LOG, "1 x Ascend910B3", "2 x Ascend910B3"),
        "versions/3: environment.json says 'device: 1 x Ascend910B3, emulated', the log does not",
    ),
    "more devices than dies": (
        lambda o: [o.replace(LOG, "1 x Asc", "2 x Asc"), o.replace(FACTS, '"count": 1', '"count": 2')],
        "versions/3: torch saw 'device: 2 x Ascend910B3, emulated', the manifest has 1 dies, emulated",
    ),
    "no environment.json to speak of": (lambda o: o.write(FACTS, "{}"), "environment.json: "),
    "another process map in environment.json": (
        forged(facts(lambda d: d.update(process_map=[LIBRARY]))),
        f"identity/2: environment.json and the log have different process maps: {STUBS}",
    ),
    "a library without a hash": (
        lambda o: o.replace("stages/native-transfer.log", "cann-library: sha256", "library:"),
        "identity/2: native-transfer: libascendcl.so is in 1 process maps, its sha256 in 0 lines",
    ),
    "the library exchanged between stages": (
        lambda o: o.replace("stages/native-transfer.log", LIBRARY_SHA256, "f" * 64),
        f"identity/2: {LIBRARY} was another file each time: {LIBRARY_SHA256}, {'f' * 64}",
    ),
    "another library in a stage without a device": (
        lambda o: o.replace("stages/unit.log", LIBRARY, f"{ASCEND}/cann-9.0.0/libascendcl.so"),
        "identity/2: stages loaded different ones: ",
    ),
    "the dies before the run by the manifest": (
        device(before=()),
        "health/5: health: the manifest's dies before are not npu-smi's manifest.json:",
    ),
    "the dies after the run by the manifest": (
        device(after=None),
        "health/5: health-after: the manifest's dies after are not npu-smi's manifest.json:",
    ),
    "other dies in devices.json": (
        forged(lambda o: o.replace("device/devices.json", '"health": "OK"', '"health": "Alarm"')),
        "health/5: health: devices is not what npu-smi and the log say device/devices.json",
    ),
    "no devices.json": (
        forged(lambda o: (o.root / "device/after/devices.json").unlink()),
        "health/5: device/after/devices.json: can't be read",
    ),
    "a die that was exchanged": (
        lambda o: o.replace("device/after/npu-smi-info.txt", "0000:C1:00.0", "0000:C2:00.0"),
        "health/5: health-after: NPU 0 chip 0: bus id is 0000:C2:00.0, it was 0000:C1:00.0 before the run",
    ),
    "npu-smi of another host": (
        lambda o: o.replace("device/after/npu-smi-info.txt", "25.5.1+emulated", "25.5.2+emulated"),
        "health/5: health-after: npu-smi is 25.5.2+emulated, it was 25.5.1+emulated before the run",
    ),
    "a log that counts other devices": (
        lambda o: o.replace("stages/health.log", "devices: 1", "devices: 8"),
        "health/5: health: the log counts 8 devices, npu-smi shows 1",
    ),
    "a log that counts problems": (
        lambda o: o.replace("stages/health.log", "problems: 0", "problems: 1"),
        "health/5: health: the log counts 1 problems, and the stage passed",
    ),
    "a log that counts nothing": (
        lambda o: o.replace("stages/health.log", "devices: 1, problems: 0\n", ""),
        "health/5: health: the log does not say how many devices and problems there were",
    ),
    "other inputs in the manifest": (
        forged(lambda o: o.change_stage("native-high-level", inputs=None)),
        "inputs/1: native-high-level: stages/native-high-level.inputs.json is not what the manifest says",
    ),
    "inputs without their file": (
        forged(lambda o: (o.root / "stages/native-high-level.inputs.json").unlink()),
        "native-high-level: the manifest has inputs, there is no stages/native-high-level.inputs.json",
    ),
    "another model in another stage": (
        lambda o: o.write(
            "stages/native-transfer.inputs.json", json.dumps(INPUTS).replace("c" * 64, "a" * 64)
        ),
        "inputs/1: tiny model is another model in native-high-level than in native-transfer",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "says"), FAULTS.values(), ids=FAULTS)
def test_what_contradicts_the_raw_files_fails(offload: OffloadArchive, change: Change, says: str) -> None:
    assert offload.verdict().result is Result.PASS
    change(offload)
    verdict = offload.verdict()
    assert says in "\n".join(messages(verdict, Result.FAIL))
    assert verdict.result is Result.FAIL


def test_another_patch_release_of_python_is_inconclusive_on_hardware(offload: OffloadArchive) -> None:
    to_hardware(offload)
    assert offload.verdict(Mode.FORMAL).result is Result.PASS
    both("3.11.6", "3.11.7")(offload)
    verdict = offload.verdict(Mode.FORMAL)
    assert messages(verdict, Result.FAIL) == []
    assert "versions/3: Python 3.11.7 ran, the lock says 3.11.6" in "\n".join(
        messages(verdict, Result.INCONCLUSIVE)
    )


#: What nobody but the emulator leaves, put into a good archive from hardware: each alone is enough.
SIGNS: dict[str, tuple[Change, str]] = {
    "its folder in a process map": (
        lambda o: [
            o.replace(f"stages/{stage}.log", "/usr/local/Ascend/cann", f"{ASCEND}/cann")
            for stage in ("unit", "native-transfer")
        ],
        "stages/unit.log:",
    ),
    "its library in a process map": (
        lambda o: o.replace("stages/native-high-level.log", "libopapi.so", "libemucann_stubs.so"),
        "stages/native-high-level.log:",
    ),
    "the device by the log": (lambda o: o.replace(LOG, "910B3, hardware", "910B3, emulated"), f"{LOG}:"),
    "the device by environment.json": (
        lambda o: o.replace(FACTS, '"kind": "hardware"', '"kind": "emulated"'),
        "environment.json says device kind emulated",
    ),
    "the environment's folder": (
        lambda o: o.replace(LOG, "-hardware-0123456789abcdef/", "-emulated-0123456789abcdef/"),
        f"{LOG}:",
    ),
    "a row of results": (
        lambda o: o.write("results/more.jsonl", '{"n": 1}\n{"device_kind": "emulated"}\n'),
        "results/more.jsonl:2 says device_kind emulated",
    ),
    "the commands": (
        lambda o: o.change_stage("build", command=("build", "--device", "emulated")),
        "manifest.json:",
    ),
}


@pytest.mark.parametrize(("sign", "place"), SIGNS.values(), ids=SIGNS)
def test_one_sign_of_the_emulator_is_enough(offload: OffloadArchive, sign: Change, place: str) -> None:
    to_hardware(offload)
    assert offload.verdict(Mode.FORMAL).result is Result.PASS
    sign(offload)
    refused = offload.verdict(Mode.FORMAL)
    assert refused.emulated
    assert f"the run was emulated ({place}" in messages(refused, Result.FAIL)[0]
