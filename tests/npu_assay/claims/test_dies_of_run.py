"""The health rule on a host with eight NPUs, of which the run took two and others use some."""

import pytest
from npu_smi_texts import process
from offload_archive import OffloadArchive, messages
from planted_npu_smi import a2_answers

from npu_assay.claims.findings import Result
from npu_assay.evidence.manifest import DeviceRecord, DieRecord

TAKEN = (2, 3)
PLACES = ", ".join(f"NPU {npu} chip 0" for npu in TAKEN)
LOG = f"npu-health: the run sees {PLACES}\nnpu-health: looked at {PLACES}\ndevices: 8, problems: 0\n"
OTHERS = {0: process(0, 4711), 7: process(7, 815)}


def write_side(offload: OffloadArchive, folder: str, busy: dict[int, str]) -> None:
    for path in (offload.root / folder).glob("*.txt"):
        path.unlink()
    for words, text in a2_answers(range(8), busy=busy).items():
        words = words.replace("info_-t_health_-i_", "health-").replace("_-c_", "-").replace("_-", "-")
        offload.write(f"{folder}/npu-smi-{words}.txt", text.replace("25.3.9", "25.3.9+emulated"))


@pytest.fixture
def eight(offload) -> OffloadArchive:
    """The good archive, as if made on such a host."""
    write_side(offload, "device", OTHERS)
    write_side(offload, "device/after", {5: process(5, 99)})
    for stage in ("health", "health-after"):
        offload.write(f"stages/{stage}.log", LOG)
    dies = tuple(
        DieRecord(npu_id=npu, chip_id=0, logical_id=npu, bus_id=f"0000:{npu:02X}:00.0", name="910B3")
        for npu in TAKEN
    )
    offload.change_manifest(device=DeviceRecord(kind="emulated", dies=dies, visible_devices="2,3"))
    offload.replace("environment.json", '"count": 1', '"count": 2')
    offload.replace("stages/versions-and-paths.log", "device: 1 x", "device: 2 x")
    return offload


def record(**changes: object):
    def change(offload: OffloadArchive) -> None:
        device = offload.manifest.device
        first = device.dies[0].model_copy(update=changes)
        offload.change_manifest(device=device.model_copy(update={"dies": (first, *device.dies[1:])}))

    return change


def test_what_others_do_on_other_dies_is_no_business_of_the_run(eight):
    verdict = eight.verdict()
    assert messages(verdict, Result.FAIL) == []
    said = "\n".join(messages(verdict, Result.PASS))
    assert "health/5: health: 2 of 8 dies judged, all healthy" in said
    assert "health/5: health-after: 2 of 8 dies judged, all healthy, nothing left on them" in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (record(npu_id=9), "NPU 9 chip 0: taken by the manifest, but npu-smi shows no such die"),
        (record(logical_id=5), "NPU 2 chip 0: logical id is 2, 5 by the manifest"),
        (record(bus_id="0000:AA:00.0"), "NPU 2 chip 0: bus id is 0000:02:00.0, 0000:AA:00.0 by the manifest"),
        (
            lambda o: o.write("stages/health.log", LOG.replace("NPU 3", "NPU 4")),
            "the run saw NPU 2 chip 0, NPU 4 chip 0, the manifest says NPU 2 chip 0, NPU 3 chip 0",
        ),
        (
            lambda o: o.write("stages/health.log", "devices: 8, problems: 0\n"),
            "the run saw NPU 0 chip 0, NPU 1 chip 0, NPU 2 chip 0, NPU 3 chip 0, NPU 4 chip 0, NPU 5 chip 0",
        ),
        (
            lambda o: write_side(o, "device/after", {3: process(3, 99)}),
            "NPU 3 chip 0: process 99 (VLLMEngineCore, 55123 MiB) was left on it",
        ),
    ],
)  # fmt: skip
def test_other_dies_than_the_manifests_and_what_is_left_on_them_fail(eight, change, message):
    assert messages(eight.verdict(), Result.FAIL) == []
    change(eight)
    assert message in "\n".join(messages(eight.verdict(), Result.FAIL))
