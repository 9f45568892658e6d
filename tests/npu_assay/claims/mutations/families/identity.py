"""An emulated run relabelled as hardware, step by step, in every combination of the places that say so.

Judged in formal mode, which is what such a forger is after; and in that of an emulated run.
"""

import re
from collections.abc import Callable
from itertools import combinations

from mutations.forged import Forged, Json
from mutations.mutation import EMULATED, Mutation
from npu_assay.claims.case import Mode

BUILD = "V100R001C10SPC001B250"
IDENTITY = f"hardware {BUILD}"
VERSIONS, ENVIRONMENT = "stages/versions-and-paths.log", "environment.json"
CPU_TOKENS = "results/tokens-equal-cpu.jsonl"


def _manifest(forged: Forged) -> None:
    def edit(manifest: Json) -> None:
        manifest["device"]["kind"] = "hardware"
        lock = manifest["environment"]
        lock["absent"] = {}
        lock["builds"] = {"cann": BUILD, "cann-ops": BUILD, "nnal": "9.0.0.B160"}
        for stage in manifest["stages"]:
            stage["command"] = ["npu" if word == "emulated" else word for word in stage["command"]]

    forged.edit_manifest(edit)


def _log(forged: Forged) -> None:
    forged.substitute(VERSIONS, "^cann-identity: .*$", f"cann-identity: {IDENTITY}")
    if b", emulated" in forged.read(VERSIONS):
        forged.replace(VERSIONS, ", emulated", ", hardware")


def _environment(forged: Forged) -> None:
    def edit(facts: Json) -> None:
        facts["cann_identity"] = IDENTITY

    forged.edit_json(ENVIRONMENT, edit)


def _cann(forged: Forged) -> None:
    """What hardware's version files say; ops have one of their own there."""
    atb, driver = "cann/atb/version.info", "cann/driver/version.info"
    forged.replace(atb, "EMULATED", "B160")
    forged.write(driver, f"Version=25.5.1\nInnerversion={BUILD}\npackage_version=25.5.1\n")
    for name in forged.names("cann/toolkit/*") + forged.names("cann/version-cfg/*"):
        forged.replace(name, "EMULATED", BUILD)

    def edit(kept: Json) -> None:
        toolkit = next(file for file in kept["files"] if file["role"] == "toolkit")
        found = toolkit["found"].replace("toolkit_install", "ops_install")
        kept["files"].append({"role": "ops", "found": found, "names": []})

    forged.edit_json("cann/files.json", edit)
    forged.write(
        "cann/ops/ascend_ops_install.info",
        f"package_name=Ascend-cann-910b-ops\nversion=9.0.0\ninnerversion={BUILD}\n",
    )


def _npu_smi(forged: Forged) -> None:
    """Versions keep their width in the table; names and serial numbers become others."""
    for name in forged.names("device/**/*"):
        for pattern, other in ((r"(?i)[.+]emulated", " " * 9), ("(?i)emulated", "Ascend")):
            if re.search(pattern.encode(), forged.read(name)):
                forged.substitute(name, pattern, other, count=0)


def _rows(forged: Forged) -> None:
    """The rows of results, and what only the emulator leaves."""
    for name in forged.names("results/*.jsonl"):
        rows = [
            row | ({"device_kind": "hardware"} if "device_kind" in row else {}) for row in forged.rows(name)
        ]
        if rows != forged.rows(name):
            forged.write_rows(name, rows)
    forged.remove(CPU_TOKENS)


STEPS: dict[str, Callable[[Forged], None]] = {
    "manifest": _manifest,
    "log": _log,
    "environment.json": _environment,
    "CANN's files": _cann,
    "npu-smi": _npu_smi,
}


def _all(steps: tuple[str, ...]) -> Callable[[Forged], None]:
    def change(forged: Forged) -> None:
        for step in steps:
            STEPS[step](forged)
        if len(steps) == len(STEPS):
            _rows(forged)

    return change


def _subsets() -> list[tuple[str, ...]]:
    return [chosen for number in range(1, len(STEPS) + 1) for chosen in combinations(STEPS, number)]


MUTATIONS = tuple(
    Mutation(
        f"relabelled as hardware: {', '.join(steps)}",
        _all(steps),
        # A sign of emulation is always left, so that formal mode refuses before any rule is asked.
        "verdict",
        kinds=(EMULATED,),
        mode=Mode.FORMAL,
    )
    for steps in _subsets()
)
