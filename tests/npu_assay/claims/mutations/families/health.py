"""The dies: unhealthy, others, in use, or not measured."""

from collections.abc import Callable

from mutations.forged import MANIFEST, Forged, Json
from mutations.mutation import HARDWARE, Mutation
from npu_assay.claims.findings import Result

INFO, AFTER = "device/npu-smi-info.txt", "device/after/npu-smi-info.txt"
HEALTH, HEALTH_AFTER = "device/npu-smi-health-0-0.txt", "device/after/npu-smi-health-0-0.txt"
NOTHING_RUNS = r"^\| No running processes found in NPU 0 .*\|$"
PROCESS = "| 0       0                 | 4711          | VLLMEngineCore           | 2100                    |"


def _edited(name: str, file: str, change: Callable[[Forged], object], **more: object) -> Mutation:
    return Mutation(name, change, "health", names=file, **more)


def _replaced(name: str, file: str, old: str, new: str, **more: object) -> Mutation:
    return _edited(name, file, lambda forged: forged.substitute(file, old, new), **more)


def _die(manifest: Json) -> Json:
    die: Json = manifest["device"]["dies"][0]
    return die


def _taken(title: str, **values: object) -> Mutation:
    return _edited(
        title, MANIFEST, lambda forged: forged.edit_manifest(lambda manifest: _die(manifest).update(values))
    )


def _state(title: str, when: str, **values: object) -> Mutation:
    return _edited(
        title,
        MANIFEST,
        lambda forged: forged.edit_manifest(lambda manifest: manifest["device"][when][0].update(values)),
    )


def _cut(file: str, keep: float) -> Callable[[Forged], None]:
    def change(forged: Forged) -> None:
        data = forged.read(file)
        forged.write(file, data[: int(len(data) * keep)])

    return change


def _other_host(forged: Forged) -> None:
    """The outputs after the run are those of another machine, whose NPU is at another place."""
    for name in forged.names("device/after/npu-smi-info.txt"):
        forged.replace(name, "0000:C1:00.0", "0000:81:00.0")


def _override(forged: Forged) -> None:
    forged.substitute(
        "stages/health.log",
        "^npu-health: looked at .*$",
        "npu-health: override NPU_INDEX=5\nnpu-health: looked at NPU 5 chip 0",
    )


def _skipped(forged: Forged) -> None:
    forged.substitute(
        "stages/health.log",
        "^npu-health: looked",
        "npu-health: skipped, as SKIP_NPU_HEALTH_CHECK=1 says\nnpu-health: looked",
    )


MUTATIONS = (
    _replaced("an unhealthy die", INFO, r"\| OK  ", "| Bad "),
    _replaced("an alarm", HEALTH, r": OK", ": Alarm"),
    _replaced("an alarm after the run", HEALTH_AFTER, r": OK", ": Critical"),
    _replaced("an unhealthy die after the run", AFTER, r"\| OK  ", "| Bad "),
    _replaced("another NPU's die", INFO, r"^\| 0     910B3", "| 6     910B3"),
    _replaced("another NPU's die after the run", AFTER, r"^\| 0     910B3", "| 6     910B3"),
    _replaced("another chip's name after the run", AFTER, "910B3", "910B4"),
    _replaced("a process left on the die", AFTER, NOTHING_RUNS, PROCESS),
    _replaced("a process before the run", INFO, NOTHING_RUNS, PROCESS, kinds=(HARDWARE,)),
    _replaced("another bus id", INFO, "0000:C1:00.0", "0000:C2:00.0"),
    _edited("the output of another host after the run", AFTER, _other_host),
    _edited("npu-smi said nothing", INFO, lambda forged: forged.write(INFO, b"")),
    _edited("npu-smi said nothing after the run", AFTER, lambda forged: forged.write(AFTER, b"")),
    _edited("npu-smi's output cut by half", INFO, _cut(INFO, 0.5)),
    _edited("npu-smi's output cut by a line", AFTER, _cut(AFTER, 0.93)),
    _edited(
        "npu-smi failed",
        INFO,
        lambda forged: forged.write(INFO, b"dcmi module initialize failed. ret is -8005\n"),
    ),
    _edited("an output that is none of npu-smi's", HEALTH, lambda forged: forged.write(HEALTH, b"Healthy\n")),
    _edited(
        "the output of another chip",
        HEALTH,
        lambda forged: forged.rename(HEALTH, "device/npu-smi-health-1-0.txt"),
    ),
    _edited("health of another die asked for", "stages/health.log", _override, result=Result.INCONCLUSIVE),
    _edited("health check skipped", "stages/health.log", _skipped, result=Result.INCONCLUSIVE),
    _replaced("the run saw another die", "stages/health.log", "sees NPU 0", "sees NPU 3"),
    _replaced(
        "it looked at another die",
        "stages/health.log",
        "looked at NPU 0",
        "looked at NPU 3",
        result=Result.INCONCLUSIVE,
    ),
    _taken("the manifest names another die", npu_id=3, logical_id=3),
    _taken("the manifest names another chip", chip_id=1),
    _taken("the manifest names another bus id", bus_id="0000:01:00.0"),
    _taken("the manifest names another logical id", logical_id=7),
    _taken("the manifest names another chip's model", name="910B4"),
    *(
        _state(f"the manifest's dies {when} the run: {key}", when, **{key: value})
        for when in ("before", "after")
        for key, value in (("health", "Alarm"), ("npu_id", 5), ("hbm_used_mib", 60000), ("temperature", 99.0))
    ),
    _edited(
        "the manifest's dies after the run dropped",
        MANIFEST,
        lambda forged: forged.edit_manifest(lambda manifest: manifest["device"].update(after=None)),
    ),
    _edited(
        "other dies were visible",
        MANIFEST,
        lambda forged: forged.edit_manifest(lambda manifest: manifest["device"].update(visible_devices="7")),
    ),
)
