"""Files of the archive: a bit of each kind, dropped, renamed, added; what is no regular file."""

import os
from pathlib import Path

from mutations.forged import Forged
from mutations.mutation import EMULATED, Mutation, Sealing
from npu_assay.claims.findings import Result

OFFLOAD, CPU_TOKENS = "results/kv-offload.jsonl", "results/tokens-equal-cpu.jsonl"
LOGGED = (
    "cann",
    "build",
    "versions-and-paths",
    "health",
    "ruff",
    "compileall",
    "vllm-ascend-ut",
    "unit",
    "native-transfer",
    "native-high-level",
    "health-after",
)
TESTED = ("unit", "native-transfer", "native-high-level")


def _flip(name: str, rule: str, at: float = 0.5) -> Mutation:
    return Mutation(f"a bit of {name}", lambda forged: forged.flip(name, at), rule, names=name)


def _drop(name: str, rule: str, result: Result = Result.FAIL, **more: tuple[str, ...]) -> Mutation:
    return Mutation(
        f"dropped {name}", lambda forged: forged.remove(name), rule, result=result, names=name, **more
    )


def _link_out(forged: Forged) -> None:
    outside = forged.root.parent / "outside.log"
    outside.write_bytes(forged.read("stages/unit.log"))
    forged.remove("stages/unit.log")
    forged.path("stages/unit.log").symlink_to(outside)


def _link_inside(forged: Forged) -> None:
    forged.remove("stages/native-transfer.log")
    forged.path("stages/native-transfer.log").symlink_to(Path("unit.log"))


def _linked_folder(forged: Forged) -> None:
    outside = forged.root.parent / "outside"
    forged.path("results").rename(outside)
    forged.path("results").symlink_to(outside)


def _pipe(forged: Forged) -> None:
    forged.remove("stages/ruff.log")
    os.mkfifo(forged.path("stages/ruff.log"))


MUTATIONS = (
    _flip("environment.json", "source", at=0),
    _flip("source/source.json", "source"),
    _flip("source/files.sha256", "source"),
    _flip("stages/ruff.log", "ruff"),
    _flip("stages/unit.junit.xml", "tests", at=0),
    _flip("stages/vllm-ascend-ut.junit.xml", "unit-tests", at=0),
    _flip("cann/files.json", "cann", at=0),
    _flip("device/npu-smi-info.txt", "health", at=0),
    _flip("device/after/npu-smi-info-l.txt", "health", at=0),
    _flip(OFFLOAD, "offload-rounds", at=0),
    _flip("inputs/lock.toml", "lock"),
    _flip("inputs/pipeline.toml", "pipeline"),
    _flip("junit.xml", "junit"),
    _drop("manifest.json", "verdict"),
    _drop("environment.json", "identity"),
    _drop("junit.xml", "junit"),
    _drop("inputs/lock.toml", "lock"),
    _drop("inputs/pipeline.toml", "pipeline"),
    _drop("source/source.json", "source"),
    _drop("source/files.sha256", "source"),
    _drop("cann/files.json", "cann"),
    _drop("cann/toolkit/ascend_toolkit_install.info", "cann"),
    _drop("cann/driver/version.info", "cann"),
    _drop("device/npu-smi-info.txt", "health"),
    _drop("device/npu-smi-info-m.txt", "health", Result.INCONCLUSIVE),
    _drop("device/after/npu-smi-info.txt", "health"),
    _drop("device/after/npu-smi-health-0-0.txt", "health", Result.INCONCLUSIVE),
    *(_drop(f"stages/{stage}.log", "stages") for stage in LOGGED),
    *(_drop(f"stages/{stage}.junit.xml", "tests") for stage in TESTED),
    _drop("stages/vllm-ascend-ut.junit.xml", "unit-tests"),
    _drop(OFFLOAD, "offload-rounds"),
    _drop(CPU_TOKENS, "cpu-tokens", Result.INCONCLUSIVE, kinds=(EMULATED,)),
    Mutation(
        "renamed results",
        lambda forged: forged.rename(OFFLOAD, "results/kv_offload.jsonl"),
        "offload-rounds",
        names=OFFLOAD,
    ),
    Mutation(
        "renamed log",
        lambda forged: forged.rename("stages/ruff.log", "stages/Ruff.log"),
        "stages",
        names="stages/Ruff.log",
    ),
    Mutation(
        "a log of a stage that nobody knows",
        lambda forged: forged.write("stages/lmcache-high-level.log", "===== 4 passed in 0.77s =====\n"),
        "contents",
        names="stages/lmcache-high-level.log",
    ),
    Mutation(
        "a file that nobody wrote",
        lambda forged: forged.write("results/summary.json", '{"verdict": "pass"}\n'),
        "contents",
        names="results/summary.json",
    ),
    Mutation(
        "a file beside the archive's own",
        lambda forged: forged.write("verdict.txt", "formal pass\n"),
        "contents",
        names="verdict.txt",
    ),
    Mutation("a link out of the archive", _link_out, "integrity", sealing=Sealing.NOTHING),
    Mutation("a link inside the archive", _link_inside, "integrity", sealing=Sealing.NOTHING),
    Mutation("a folder that is a link", _linked_folder, "integrity", sealing=Sealing.NOTHING),
    Mutation("a pipe for a log", _pipe, "integrity", sealing=Sealing.NOTHING),
)
