"""Run a suite as the runner does, in the installed environment, and say which of its tests passed."""

import json
import os
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import npu_assay

SUITES = Path(npu_assay.__file__).parent / "suites"


@dataclass(frozen=True)
class SuiteRun:
    """A finished run: exit code, everything it printed, its archive, and the tests by outcome."""

    returncode: int
    log: str
    archive: Path
    passed: frozenset[str]
    failed: frozenset[str]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of `results/<name>.jsonl`."""
        return [
            json.loads(line) for line in (self.archive / "results" / f"{name}.jsonl").read_text().splitlines()
        ]


def stage_variables(archive: Path, settings: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return what the runner sets for a stage (ARCHITECTURE.md), after writing the settings file."""
    file = archive / "settings.json"
    file.write_text(json.dumps({"model": None, **(settings or {})}))
    return {
        "NPU_ASSAY_ARCHIVE": str(archive),
        "NPU_ASSAY_RESULTS": str(archive / "results"),
        "NPU_ASSAY_STAGE": "test",
        "NPU_ASSAY_SETTINGS": str(file),
        "NPU_ASSAY_DEVICE_KIND": "emulated",
    }


def run_suite(
    python: Path,
    variables: Mapping[str, str],
    suite: str,
    archive: Path,
    settings: Mapping[str, Any] | None = None,
    *options: str,
) -> SuiteRun:
    """Run a folder of suites with the environment's pytest."""
    archive.mkdir(parents=True, exist_ok=True)
    junit, log = archive / "junit.xml", archive / "log"
    command = [python, "-m", "pytest", f"--junit-xml={junit}", *options, SUITES / suite]
    with log.open("wb") as file:
        process = subprocess.run(
            list(map(os.fspath, command)),
            cwd=archive,
            env={**variables, **stage_variables(archive, settings)},
            stdout=file,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )
    passed, failed = set(), set()
    if junit.exists():
        for case in ElementTree.parse(junit).iter("testcase"):
            (passed if len(case) == 0 else failed).add(case.attrib["name"])
    text = log.read_text(errors="replace")
    return SuiteRun(process.returncode, text, archive, frozenset(passed), frozenset(failed))
