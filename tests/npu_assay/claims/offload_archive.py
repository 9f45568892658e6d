"""A whole archive of an emulated kv-offload run, as the runner and the suites would leave it."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from planted_tests import LOCKS_TREE, junit, names_of_tests, session, unit_tests

from npu_assay.claims.case import Mode
from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import Verdict, verify
from npu_assay.evidence.archive import Archive, create_archive, seal
from npu_assay.evidence.manifest import (
    DeviceRecord,
    DieRecord,
    EnvironmentRecord,
    Manifest,
    PipelineRecord,
    StageRecord,
    StageStatus,
    write_manifest,
)
from npu_assay.evidence.provenance import host_record, project_record
from npu_assay.report.derived import derive
from npu_assay.source.listing import Listing
from npu_assay.source.native import native_parts
from npu_assay.source.record import PatchRecord, SourceRecord

STAGES = (
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
LIBRARY = "/cache/Ascend/cann-9.0.0/x86_64-linux/lib64/libascendcl.so"
IDENTITY = "EMULATED CANN 9.0.0 (emucann)"
LOCKED = {"torch": "2.9.0", "torch-npu": "2.9.0.post2", "triton-ascend": "3.2.0"}
LOCKED |= {"vllm": "0.18.0", "vllm-ascend": "0.18.0"}
LOADED = LOCKED | {"torch": "2.9.0+cpu"}
#: Of the run's vllm-ascend: name -> content.
TREE = {
    "setup.py": "setup()",
    "csrc/ops.cpp": "int main();",
    "vllm_ascend/__init__.py": "",
    "vllm_ascend/utils.py": "import torch",
    "vllm_ascend/data/no_package.py": "",
    "tests/ut/test_utils.py": "def test_0(): pass",
    "tests/ut/test_empty.py": "",
    "tests/ut/worker/test_worker_v1.py": "# upstream's CI leaves this out",
}
LOCKED_CANN = {"cann": "9.0.0", "cann-ops": "9.0.0", "nnal": "9.0.0"}
LOCKED_BUILDS = dict.fromkeys(LOCKED_CANN, "EMULATED")
SETTINGS = {"rounds": 3, "prompt_tokens": 300}

NPU_SMI_INFO = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 9.0.0.EMULATED           Version: 9.0.0.EMULATED                                       |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 0.0         0                 0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          0    / 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| No running processes found in NPU 0                                                            |
+===========================+===============+====================================================+
"""
HEALTH_LOG = """\
npu-health: the run sees NPU 0 chip 0
npu-health: looked at NPU 0 chip 0
devices: 1, problems: 0
"""
NOTHING_RUNS = (
    "| No running processes found in NPU 0                                                            |"
)
CLOSING_RULE = (
    "+===========================+===============+====================================================+"
)
PROCESS = "| 0       0                 | 4711          | VLLMEngineCore           | 2100                    |"


#: Role -> where it was found, and the text.
CANN_FILES = {
    "toolkit": (
        "/cache/Ascend/cann-9.0.0/x86_64-linux/ascend_toolkit_install.info",
        "package_name=Ascend-cann-toolkit\nversion=9.0.0\ninnerversion=EMULATED\narch=x86_64\n",
    ),
    "version-cfg": ("/cache/Ascend/cann-9.0.0/version.cfg", "hccl_running_version=[EMULATED:9.0.0]\n"),
    "atb": (
        "/cache/Ascend/nnal/atb/9.0.0/version.info",
        "Ascend-cann-atb : 9.0.0\nAscend-cann-atb Version : 9.0.0.EMULATED\n",
    ),
    "driver": (
        "/cache/Ascend/driver/version.info",
        "Version=25.5.1+emulated\nInnerversion=EMULATED\npackage_version=25.5.1+emulated\n",
    ),
}


def _on_hardware(role: str, text: str) -> str:
    if role == "atb":
        return text.replace("EMULATED", "B160")
    if role == "driver":
        return text.replace("+emulated", "").replace("EMULATED", "V100R001C23SPC006B220")
    return text.replace("EMULATED", "V100R001C10SPC001B250")


CANN_FILES_OF_HARDWARE = {
    role: (found, _on_hardware(role, text)) for role, (found, text) in CANN_FILES.items()
} | {
    "ops": (
        "/cache/Ascend/cann-9.0.0/x86_64-linux/ascend_ops_install.info",
        "package_name=Ascend-cann-910b-ops\nversion=9.0.0\ninnerversion=V100R001C10SPC001B250\n",
    )
}

NPU_SMI = {
    "npu-smi-info.txt": NPU_SMI_INFO,
    "npu-smi-info-m.txt": "NPU ID    Chip ID    Chip Logic ID    Chip Name\n0    0    0    Ascend 910B3\n",
    "npu-smi-info-l.txt": "Total Count : 1\n\nNPU ID : 0\nChip Count : 1\n",
    "npu-smi-health-0-0.txt": "Health Status : OK\nError Code : NA\nError Information : NA\n",
}


def pytest_log(summary: str) -> str:
    return session(summary, ("process: pytest pid 7", f"process-map: {LIBRARY}"))


def stage_junit(stage: str, *outcomes: str) -> str:
    """JUnit of all the stage's tests: the first ones end as said, the others pass."""
    names = names_of_tests(stage, SETTINGS)
    return junit(dict(zip(names, [*outcomes, *[""] * (len(names) - len(outcomes))], strict=True)))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def listing_of(tree: Mapping[str, str], links: Mapping[str, str] | None = None) -> Listing:
    return Listing({name: sha256(text) for name, text in tree.items()}, links=links or {})


def _packaged(tree: Listing) -> list[str]:
    """The Python files in packages below vllm_ascend."""
    packages = {str(Path(name).parent) for name in tree.files if name.endswith("/__init__.py")}
    return [
        name
        for name in tree.files
        if name.startswith("vllm_ascend/")
        and name.endswith(".py")
        and all(str(parent) in packages for parent in list(Path(name).parents)[:-1])
    ]


def round_row(number: int, **changes: object) -> dict[str, object]:
    tokens = [number, 7, 7, 5] * 4
    return {
        "backend": "native",
        "run": number,
        "prompt_tokens": 300,
        "prompt_sha256": f"{number:064x}",
        "cold_cached_tokens": 0,
        "reset_prefix_cache": True,
        "external_cached_tokens": 256,
        "cold_token_ids": tokens,
        "external_token_ids": tokens,
        "cold_seconds": 0.7,
        "external_seconds": 0.5,
        "stored_tokens": None,
        "retrieved_tokens": None,
        "tensor_parallel_size": 1,
    } | changes


class OffloadArchive:
    """The archive's files; change them, then `verdict` seals and judges."""

    def __init__(self, root: Path) -> None:
        self.archive: Archive = create_archive(root)
        self.archive.work.rmdir()
        self.root = self.archive.root
        self.manifest = _manifest()
        self.write(
            "stages/versions-and-paths.log",
            "".join(f"{name} {version} /x/{name}.py\n" for name, version in LOADED.items())
            + f"process: versions pid 1\nprocess-map: {LIBRARY}\n"
            f"cann-identity: {IDENTITY}\n",
        )
        self.write_environment()
        self.write_tree(LOCKS_TREE)
        self.write("stages/build.log", "nothing to build\n")
        self.write_unit_tests(unit_tests())
        self.write("stages/cann.log", "findings: 4, problems: 0\n")
        self.write_cann(CANN_FILES)
        (self.root / "device" / "after").mkdir()
        for stage, folder in (("health", "device"), ("health-after", "device/after")):
            self.write(f"stages/{stage}.log", HEALTH_LOG)
            for name, text in NPU_SMI.items():
                self.write(f"{folder}/{name}", text)
        self.write("stages/ruff.log", "All checks passed!\n")
        self.write("stages/compileall.log", "")
        for stage in ("unit", "native-transfer", "native-high-level"):
            self.write_tests(stage)
        self.write(
            "results/tokens-equal-cpu.jsonl",
            '{"prompt_tokens": 7, "npu_token_ids": [5, 6], "cpu_token_ids": [5, 6]}\n',
        )
        self.write_rounds(*(round_row(run) for run in (1, 2, 3)))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write_tests(self, stage: str, with_cpu: bool = True) -> None:
        """Log and JUnit of a suite whose tests all pass, by the manifest's settings."""
        record = self.manifest.stage(stage)
        names = names_of_tests(stage, record.settings if record else {}, with_cpu)
        self.write(f"stages/{stage}.log", pytest_log(f"{len(names)} passed, 3 warnings"))
        self.write(f"stages/{stage}.junit.xml", junit(dict.fromkeys(names, "")))

    def write_unit_tests(self, tests: Mapping[str, str]) -> None:
        """Log and JUnit of vllm-ascend's own tests."""
        skipped = sum("<skipped" in inner for inner in tests.values())
        log = pytest_log(f"{len(tests) - skipped} passed, {skipped} skipped")
        self.write("stages/vllm-ascend-ut.log", f"package: /x/vllm-ascend.py\n{log}")
        self.write("stages/vllm-ascend-ut.junit.xml", junit(tests))

    def write_environment(self, tree: Listing = LOCKS_TREE, **files: str) -> None:
        """environment.json, with the loaded package's files: the tree's, but for these."""
        loaded = {name: sha256(text) for name, text in files.items()}
        loaded = {name: tree.files[name] for name in _packaged(tree)} | loaded
        loaded["vllm_ascend/_build_info.py"] = sha256("made by setup.py")
        facts = {
            "cann_identity": IDENTITY,
            "process_map": [LIBRARY],
            "vllm_ascend_files": loaded,
        }
        self.write("environment.json", json.dumps(facts))

    def write_tree(
        self,
        tree: Listing | Mapping[str, str],
        patches: Mapping[str, str] | None = None,
        base: Mapping[str, str] | None = None,
        links: Mapping[str, str] | None = None,
        **record: object,
    ) -> None:
        """source/ and the manifest's record of it; what a run's own tree has are patches and a base."""
        listing = tree if isinstance(tree, Listing) else listing_of(tree, links)
        own = base is not None
        source = SourceRecord(
            **{
                "kind": "folder" if own else "lock",
                "given": "/home/me/vllm-ascend" if own else "vllm-ascend 0.18.0 of cann900-vllm018",
                "commit": None,
                "dirty": None,
                "sha256": None,
                "patches": tuple(
                    PatchRecord(name=name[5:], file=name, sha256=sha256(text))
                    for name, text in (patches or {}).items()
                ),
                "tree_sha256": listing.sha256,
                "files": len(listing.files),
                "version": f"0.18.0+tree.{listing.sha256[:12]}" if own else "0.18.0",
                "version_from": "PKG-INFO" if own else "the lock",
                "notes": (),
            }
            | record
        )
        self.change_manifest(source=source)
        self.write("source/source.json", source.model_dump_json())
        self.write("source/files.sha256", listing.data.decode())
        for name, text in (patches or {}).items():
            self.write(f"source/patches/{name}", text)
        if base is not None:
            compiled = {name: sha256(text) for name, text in base.items()}
            self.write("source/base-native.sha256", native_parts(Listing(compiled)).data.decode())
        log = (self.root / "stages/versions-and-paths.log").read_text()
        loaded = re.sub(r"^vllm-ascend \S+", f"vllm-ascend {source.version}", log, flags=re.MULTILINE)
        self.write("stages/versions-and-paths.log", loaded)

    def write_cann(self, files: dict[str, tuple[str, str]]) -> None:
        for role, (found, text) in files.items():
            self.write(f"cann/{role}/{Path(found).name}", text)
        listed = [{"role": role, "found": found} for role, (found, _) in files.items()]
        self.write("cann/files.json", json.dumps({"schema_version": 1, "machine": "x86_64", "files": listed}))

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def prepend(self, name: str, text: str) -> None:
        self.write(name, text + (self.root / name).read_text())

    def write_rounds(self, *rows: dict[str, object]) -> None:
        self.write("results/kv-offload.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def change_manifest(self, **changes: object) -> None:
        self.manifest = self.manifest.model_copy(update=changes)

    def change_stage(self, name: str, **changes: object) -> None:
        stages = tuple(
            stage.model_copy(update=changes) if stage.name == name else stage
            for stage in self.manifest.stages
        )
        self.change_manifest(stages=stages)

    def remove_stage(self, name: str, status: StageStatus, reason: str) -> None:
        """As if the stage had not been started."""
        self.change_stage(name, status=status, reason=reason, exit_code=None)
        for path in self.archive.stage_log(name), self.archive.stage_junit(name):
            path.unlink(missing_ok=True)

    def seal(self) -> None:
        write_manifest(self.archive.manifest, self.manifest)
        seal(self.archive)

    def derive(self) -> None:
        """Seal, and write what is derived."""
        self.seal()
        derive(self.root)

    def verdict(self, mode: Mode = Mode.EMULATED) -> Verdict:
        self.seal()
        return verify(self.root, mode)


def to_hardware(offload: OffloadArchive) -> None:
    """As if the run had been on an NPU."""
    offload.change_manifest(device=device_of("hardware"))
    for name in ("environment.json", "stages/versions-and-paths.log"):
        offload.replace(name, IDENTITY, "hardware V100R001C10SPC001B250")
    for folder in ("device", "device/after"):
        offload.replace(f"{folder}/npu-smi-info.txt", "9.0.0.EMULATED", "25.5.1")
    offload.write_cann(CANN_FILES_OF_HARDWARE)
    builds = {"cann": "V100R001C10SPC001B250", "cann-ops": "V100R001C10SPC001B250", "nnal": "9.0.0.B160"}
    offload.change_manifest(environment=offload.manifest.environment.model_copy(update={"builds": builds}))
    (offload.root / "results/tokens-equal-cpu.jsonl").unlink()
    offload.write_tests("native-high-level", with_cpu=False)


Change = Callable[[OffloadArchive], object]


def messages(verdict: Verdict, result: Result) -> list[str]:
    """What was found with that result: rule, message, evidence."""
    return [
        f"{finding.rule}: {finding.message} {' '.join(map(str, finding.evidence))}"
        for finding in verdict.findings
        if finding.result is result
    ]


def device_of(kind: str, *npus: int) -> DeviceRecord:
    """The record of a run that took these dies, by default the one that the archive's npu-smi shows."""
    dies = tuple(
        DieRecord(npu_id=npu, chip_id=0, logical_id=npu, bus_id=f"0000:C{npu + 1}:00.0")
        for npu in npus or (0,)
    )
    visible = ",".join(str(die.logical_id) for die in dies)
    return DeviceRecord(kind=kind, dies=dies, visible_devices=visible)


def _manifest() -> Manifest:
    now = datetime.now(UTC)
    settings = {"native-high-level": SETTINGS}
    return Manifest(
        pipeline=PipelineRecord(name="kv-offload", sha256="0" * 64),
        environment=EnvironmentRecord(
            name="cann900-vllm018", lock_sha256="1" * 64, versions=LOCKED | LOCKED_CANN, builds=LOCKED_BUILDS
        ),
        source=SourceRecord.model_construct(),  # write_tree's
        device=device_of("emulated"),
        model=None,
        project=project_record(),
        host=host_record(),
        started=now,
        finished=now,
        interrupted=False,
        stages=tuple(
            StageRecord(
                name=name, status=StageStatus.PASS, exit_code=0, seconds=10.0, settings=settings.get(name, {})
            )
            for name in STAGES
        ),
    )
