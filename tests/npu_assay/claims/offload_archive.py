"""A whole archive of an emulated kv-offload run, as the runner and the suites would leave it."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from planted_run import (
    LOCK,
    Places,
    changed_checkout,
    manifest_of,
    read_pipeline,
    settings_of,
    stage_names,
)
from planted_run import device_of as device_of
from planted_tests import LOCKS_TREE, junit, names_of_tests, session, unit_tests

from npu_assay.claims.case import Mode
from npu_assay.claims.checkout import OWN, Checkout
from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import Verdict, verify
from npu_assay.device.host import join
from npu_assay.device.overrides import read_log
from npu_assay.device.reports import DeviceHealth
from npu_assay.device.stored import read_answers
from npu_assay.environment.lock import UNVERIFIED, read_lock
from npu_assay.environment.variant import Variant
from npu_assay.errors import AssayError
from npu_assay.evidence.archive import Archive, create_archive, seal
from npu_assay.evidence.device_state import read_device_state
from npu_assay.evidence.image import CANN_SOURCES, ImageDigest, image_record, write_image
from npu_assay.evidence.loaded import read_loaded
from npu_assay.evidence.manifest import StageStatus, write_manifest
from npu_assay.evidence.run_junit import render_run_junit
from npu_assay.evidence.stage_inputs import read_stage_inputs
from npu_assay.pipeline.selection import changed_settings
from npu_assay.report.derived import derive
from npu_assay.source.listing import Listing
from npu_assay.source.native import native_parts
from npu_assay.source.record import PatchRecord, SourceRecord

EMULATED = Places("emulated")
ASCEND = "/home/me/.cache/npu-assay/emulator/0123456789abcdef/Ascend"
LIBRARY = f"{ASCEND}/cann-9.0.0/x86_64-linux/lib64/libascendcl.so"
STUBS = f"{ASCEND}/cann-9.0.0/x86_64-linux/lib64/libemucann_stubs.so"
LIBRARY_SHA256 = "e" * 64
PROCESS_MAP = (
    f"process-map: {LIBRARY}\nprocess-map: {STUBS}\ncann-library: sha256 {LIBRARY_SHA256} {LIBRARY}\n"
)
IDENTITY = "EMULATED 0.1.0"
LOCKED = {"torch": "2.9.0", "torch-npu": "2.9.0.post2", "triton-ascend": "3.2.0"}
LOCKED |= {"vllm": "0.18.0", "vllm-ascend": "0.18.0"}
LOADED = LOCKED | {"torch": "2.9.0+cpu"}
BINDING = f"{EMULATED.vllm_ascend}/vllm_ascend_C.cpython-311-x86_64-linux-gnu.so"
MODULES = {name: name.replace("-", "_") for name in LOCKED} | {"triton-ascend": "triton"}
STAGES = stage_names()
SETTINGS = settings_of("native-high-level")
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

NPU_SMI_INFO = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.5.1+emulated          Version: 25.5.1+emulated                                      |
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
        f"{ASCEND}/cann-9.0.0/x86_64-linux/ascend_toolkit_install.info",
        "package_name=Ascend-cann-toolkit\nversion=9.0.0\ninnerversion=EMULATED\narch=x86_64\n",
    ),
    "version-cfg": (f"{ASCEND}/cann-9.0.0/version.cfg", "hccl_running_version=[EMULATED:9.0.0]\n"),
    "atb": (
        f"{ASCEND}/nnal/atb/9.0.0/version.info",
        "Ascend-cann-atb : 9.0.0\nAscend-cann-atb Version : 9.0.0.EMULATED\n",
    ),
    "driver": (
        f"{ASCEND}/driver/version.info",
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
    role: (found.replace(ASCEND, "/usr/local/Ascend"), _on_hardware(role, text))
    for role, (found, text) in CANN_FILES.items()
} | {
    "ops": (
        "/usr/local/Ascend/cann-9.0.0/x86_64-linux/ascend_ops_install.info",
        "package_name=Ascend-cann-910b-ops\nversion=9.0.0\ninnerversion=V100R001C10SPC001B250\n",
    )
}

NPU_SMI = {
    "npu-smi-info.txt": NPU_SMI_INFO,
    "npu-smi-info-m.txt": "NPU ID    Chip ID    Chip Logic ID    Chip Name\n0    0    0    Ascend 910B3\n",
    "npu-smi-info-l.txt": "Total Count : 1\n\nNPU ID : 0\nChip Count : 1\n",
    "npu-smi-health-0-0.txt": "Health Status : OK\nError Code : NA\nError Information : NA\n",
}


#: What the high-level stage read.
INPUTS = {
    "schema_version": 1,
    "models": [{"name": "tiny model", "files": {"config.json": {"sha256": "c" * 64, "size": 700}}}],
    "datasets": [
        {"name": "prompts", "source": "npu-assay", "revision": "seed 0", "rows": 3, "sha256": "d" * 64}
    ],
}


ENGINE = "(EngineCore pid=8) INFO "
KV_CACHE_SIZE = (
    "[kv_cache_utils.py:1316] GPU KV cache size: 8,192 tokens",
    "[kv_cache_utils.py:1321] Maximum concurrency for 1,024 tokens per request: 8.00x",
)
#: How lines begin that go with the results.
OF_RESULTS = (ENGINE, "engine-metrics: ", "row: ")


def load_path(distribution: str) -> str:
    """Where the emulated run loaded it from."""
    return f"{EMULATED.site}/{MODULES[distribution]}/__init__.py"


def pytest_log(summary: str, lines: Iterable[str] = ()) -> str:
    return session(summary, ("process: pytest pid 7", *PROCESS_MAP.splitlines(), *lines))


def clock(time: datetime) -> str:
    """As vLLM's lines have it, without year and zone."""
    return f"{time:%m-%d %H:%M:%S}"


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
        "device_kind": "emulated",
    } | changes


def comparison(prompt_tokens: int, **changes: object) -> dict[str, object]:
    tokens = [5, 6] * 8
    return {
        "prompt_tokens": prompt_tokens,
        "npu_token_ids": tokens,
        "cpu_token_ids": tokens,
        "device_kind": "emulated",
    } | changes


class OffloadArchive:
    """The archive's files; change them, then `verdict` seals and judges."""

    def __init__(self, root: Path) -> None:
        self.archive: Archive = create_archive(root)
        self.archive.work.rmdir()
        self.root = self.archive.root
        self.checkout = OWN
        self.forged = False
        """Whether somebody edits the manifest, and so nothing in it is written anew."""
        self.manifest = manifest_of("emulated", OWN)
        self.write_inputs()
        self.write(
            "stages/versions-and-paths.log",
            "".join(f"{name} {version} {load_path(name)}\n" for name, version in LOADED.items())
            + f"process: versions_and_paths.py pid 1\n{PROCESS_MAP}"
            f"cann-identity: {IDENTITY}\npython 3.11.7 {EMULATED.python}\n"
            f"vllm-ascend binding: vllm_ascend.vllm_ascend_C {BINDING} (sha256 {'b' * 64}), as it was"
            " installed\ndevice: 1 x Ascend910B3, emulated\n",
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
        self.write_rounds(*(round_row(run) for run in (1, 2, 3)))
        self.write_comparisons(*map(comparison, (1, 7, 300)))
        self.write("stages/native-high-level.inputs.json", json.dumps(INPUTS))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write_tests(self, stage: str, with_cpu: bool = True) -> None:
        """Log and JUnit of a suite whose tests all pass, by the manifest's settings."""
        record = self.manifest.stage(stage)
        names = names_of_tests(stage, record.settings if record else {}, with_cpu)
        began = self.began(stage)
        tasks = f"INFO {clock(began)} [llm.py:391] Supported tasks: ['generate']"
        lines = (tasks, *self._lines_of_results(stage))
        self.write(f"stages/{stage}.log", pytest_log(f"{len(names)} passed, 3 warnings", lines))
        self.write(f"stages/{stage}.junit.xml", junit(dict.fromkeys(names, ""), began))

    def began(self, stage: str) -> datetime:
        """A time at which the stage ran."""
        record = self.manifest.stage(stage)
        started = record.started if record else None
        return (started or self.manifest.started) + timedelta(seconds=1)

    def write_unit_tests(self, tests: Mapping[str, str]) -> None:
        """Log and JUnit of vllm-ascend's own tests."""
        skipped = sum("<skipped" in inner for inner in tests.values())
        log = pytest_log(f"{len(tests) - skipped} passed, {skipped} skipped")
        self.write("stages/vllm-ascend-ut.log", f"package: {load_path('vllm-ascend')}\n{log}")
        self.write("stages/vllm-ascend-ut.junit.xml", junit(tests, self.began("vllm-ascend-ut")))

    def write_environment(self, tree: Listing = LOCKS_TREE, **files: str) -> None:
        """environment.json, with the loaded package's files: the tree's, but for these."""
        loaded = {name: sha256(text) for name, text in files.items()}
        loaded = {name: tree.files[name] for name in _packaged(tree)} | loaded
        loaded["vllm_ascend/_build_info.py"] = sha256("made by setup.py")
        own = {"vllm-ascend": getattr(self.manifest.source, "version", LOADED["vllm-ascend"])}
        facts = {
            "python": {"version": "3.11.7", "executable": EMULATED.python},
            "packages": [
                {"name": name, "version": version, "path": load_path(name)}
                for name, version in (LOADED | own).items()
            ],
            "vllm_ascend_binding": {"path": BINDING, "sha256": "b" * 64, "replaces": None},
            "device": {"kind": "emulated", "count": 1, "name": "Ascend910B3"},
            "cann_identity": IDENTITY,
            "process_map": [LIBRARY, STUBS],
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
        loaded = re.sub(r"^vllm-ascend \d\S*", f"vllm-ascend {source.version}", log, flags=re.MULTILINE)
        self.write("stages/versions-and-paths.log", loaded)
        facts = json.loads((self.root / "environment.json").read_bytes())
        for package in facts["packages"]:
            if package["name"] == "vllm-ascend":
                package["version"] = source.version
        self.write("environment.json", json.dumps(facts))

    def put_in_image(self, **record: object) -> None:
        """As if the run had been in an image of its lock."""
        kind = self.manifest.device.kind
        image = image_record(
            Variant.of(read_lock(self.checkout.lock(LOCK)), kind),
            self.manifest.host.machine,
            CANN_SOURCES[kind][0],
            kind="runtime",
            base="debian:bookworm-slim",
            revision=None,
        )
        digest = ImageDigest(of="manifest", sha256="f" * 64)
        given = {"reference": f"npu-assay:{image.target}", "digest": digest}
        self.change_manifest(image=image.model_copy(update=given | record))
        write_image(self.archive.image, self.manifest.image)

    def use_lock(self, change: Callable[[str], str]) -> None:
        """As if this checkout had another lock, and the run had been made from that."""
        self.checkout = changed_checkout(self.root.parent / "changed", self.checkout, change)
        kind = self.manifest.device.kind
        self.change_manifest(environment=manifest_of(kind, self.checkout).environment)
        self.write_inputs()

    def write_inputs(self) -> None:
        """inputs/: the lock and the pipeline that the manifest was made from."""
        self.write("inputs/lock.toml", self.checkout.lock(LOCK).read_text())
        self.write("inputs/pipeline.toml", self.checkout.pipeline(self.manifest.pipeline.name).read_text())

    def write_cann(self, files: dict[str, tuple[str, str]]) -> None:
        for role, (found, text) in files.items():
            self.write(f"cann/{role}/{Path(found).name}", text)
        listed = [{"role": role, "found": found} for role, (found, _) in files.items()]
        self.write(
            "cann/files.json",
            json.dumps({"schema_version": 1, "machine": self.manifest.host.machine, "files": listed}),
        )

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def replace_once(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new, 1))

    def append(self, name: str, text: str) -> None:
        self.write(name, (self.root / name).read_text() + text)

    def prepend(self, name: str, text: str) -> None:
        self.write(name, text + (self.root / name).read_text())

    def write_rounds(self, *rows: dict[str, object]) -> None:
        """The rounds, and the log of the stage that left them."""
        self.write("results/kv-offload.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        self._log_results("native-high-level")

    def write_comparisons(self, *rows: dict[str, object]) -> None:
        """The comparisons with the CPU, and the log of the stage that left them."""
        self.write("results/tokens-equal-cpu.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        self._log_results("native-high-level")

    def remove_comparisons(self, stage: str = "native-high-level") -> None:
        """As if the stage had not compared anything."""
        (self.root / "results/tokens-equal-cpu.jsonl").unlink()
        self._log_results(stage)

    def _log_results(self, stage: str) -> None:
        path = self.archive.stage_log(stage)
        first, *rest = path.read_text().splitlines()
        kept = [line for line in rest if not line.startswith(OF_RESULTS)]
        path.write_text(
            "".join(f"{line}\n" for line in (first, kept[0], *self._lines_of_results(stage), *kept[1:]))
        )

    def _lines_of_results(self, stage: str) -> list[str]:
        """What the engine and the suite print of the results that are there."""
        lines: list[str] = []
        external, engine = 0, ENGINE + clock(self.began(stage))
        for number, row in enumerate(self._rows("kv-offload") if stage == "native-high-level" else [], 1):
            values = json.loads(row)
            external += (
                256 if values["external_cached_tokens"] is None else int(values["external_cached_tokens"])
            )
            lines += [
                *([] if number > 1 else [f"{engine} {line}" for line in KV_CACHE_SIZE]),
                f"{engine} [block_pool.py:472] Successfully reset prefix cache",
                f"engine-metrics: after run {number}: local_cache_hit 0 external_kv_transfer {external}",
                f"row: results/kv-offload.jsonl sha256 {sha256(row)}",
            ]
        if stage in ("native-high-level", "engine"):
            rows = self._rows("tokens-equal-cpu")
            lines += [f"row: results/tokens-equal-cpu.jsonl sha256 {sha256(row)}" for row in rows]
        return lines

    def _rows(self, name: str) -> list[str]:
        path = self.archive.results / f"{name}.jsonl"
        return path.read_text().splitlines() if path.exists() else []

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
        never = {"command": (), "started": None, "seconds": None, "exit_code": None}
        self.change_stage(name, status=status, reason=reason, **never)
        for path in self.archive.stage_log(name), self.archive.stage_junit(name):
            path.unlink(missing_ok=True)

    def _write_devices(self, stage: str, folder: str) -> None:
        """devices.json, as the stage writes it beside npu-smi's output."""
        path = self.archive.stage_log(stage)
        log = read_log(path.read_text().splitlines() if path.exists() else ())
        host = join(read_answers([self.root / folder]))
        judged = [
            d.place for d in host.dies if log.looked_at is None or (d.npu_id, d.chip_id) in log.looked_at
        ]
        report = DeviceHealth(
            npu_smi_version=host.npu_smi_version,
            devices=host.dies,
            problems=(),
            notes=host.notes,
            judged=tuple(judged),
            override=log.override,
            skipped=log.skipped,
            healthy=True,
        )
        self.write(f"{folder}/devices.json", report.model_dump_json(indent=2) + "\n")

    def _write_process_map(self) -> None:
        """In environment.json, what the log says."""
        path = self.archive.stage_log("versions-and-paths")
        try:
            facts = json.loads(self.archive.environment.read_bytes())
            lines = path.read_text().splitlines()
        except (OSError, ValueError, RecursionError):
            return
        maps = [line.removeprefix("process-map: ") for line in lines if line.startswith("process-map: ")]
        if isinstance(facts, dict) and maps:
            self.write("environment.json", json.dumps(facts | {"process_map": maps}))

    def need_two_dies(self) -> str:
        """As if the engine had been meant for two dies, of which the host has one; returns the stage."""
        stage = "native-high-level"
        self.change_stage(stage, settings=SETTINGS | {"tensor_parallel_size": 2}, inputs=None)
        self.remove_stage(stage, StageStatus.NOT_APPLICABLE, "needs 2 dies, this run has 1")
        for path in (*self.archive.results.iterdir(), self.archive.stage_inputs(stage)):
            path.unlink()
        return stage

    def record(self) -> None:
        """What the runner reads of the stages' files into the manifest when they have ended."""
        for stage, folder in (("health", "device"), ("health-after", "device/after")):
            with suppress(AssayError):
                self._write_devices(stage, folder)
        self._write_process_map()
        device = self.manifest.device.model_copy(
            update={
                "before": read_device_state(self.archive.device),
                "after": read_device_state(self.archive.device_after),
            }
        )
        pipeline = read_pipeline(self.manifest.pipeline.name)
        settings = {stage.name: dict(stage.settings) for stage in pipeline.stage}
        settings |= {stage.name: stage.settings for stage in self.manifest.stages}
        self.change_manifest(
            device=device,
            loaded=read_loaded(self.archive.environment),
            changed_settings=changed_settings(pipeline, settings),
        )
        for stage in self.manifest.stages:
            path = self.archive.stage_inputs(stage.name)
            if path.exists():
                self.change_stage(stage.name, inputs=read_stage_inputs(path, path.name))

    def seal(self) -> None:
        if not self.forged:
            self.record()
        write_manifest(self.archive.manifest, self.manifest)
        self.archive.junit.write_bytes(render_run_junit(self.manifest))
        seal(self.archive)

    def derive(self) -> None:
        """Seal, and write what is derived."""
        self.seal()
        derive(self.root, self.checkout)

    def verdict(self, mode: Mode = Mode.EMULATED) -> Verdict:
        self.seal()
        return verify(self.root, mode, self.checkout)


@cache
def recorded_checkout() -> Checkout:
    """A checkout in whose lock somebody has recorded every hash, as formal mode wants it."""
    recorded = f'"{"a" * 64}"'
    return changed_checkout(Path(mkdtemp()), OWN, lambda text: text.replace(f'"{UNVERIFIED}"', recorded))


def to_hardware(offload: OffloadArchive) -> None:
    """As if the run had been on an NPU, in an environment all of whose hashes are recorded."""
    hardware = Places("hardware")
    offload.checkout = recorded_checkout()
    offload.manifest = manifest_of("hardware", offload.checkout).model_copy(
        update={"source": offload.manifest.source}
    )
    offload.write_inputs()
    offload.replace("environment.json", '"kind": "emulated"', '"kind": "hardware"')
    offload.replace("stages/versions-and-paths.log", "910B3, emulated", "910B3, hardware")
    for name in ("environment.json", "stages/versions-and-paths.log"):
        offload.replace(name, IDENTITY, "hardware V100R001C10SPC001B250")
        # What the hardware variant of the lock has instead.
        offload.replace(name, "3.11.7", "3.11.6")
        offload.replace(name, "3.2.0", "3.2.1")
    offload.write_tests("native-high-level", with_cpu=False)
    for path in (offload.root / "environment.json", *(offload.root / "stages").iterdir()):
        text = path.read_text().replace(EMULATED.environment, hardware.environment)
        path.write_text(text.replace(ASCEND, "/usr/local/Ascend").replace("libemucann_stubs", "libopapi"))
    for folder in ("device", "device/after"):
        offload.replace(f"{folder}/npu-smi-info.txt", "25.5.1+emulated ", "25.5.1          ")
    offload.write_cann(CANN_FILES_OF_HARDWARE)
    rows = map(json.loads, (offload.root / "results/kv-offload.jsonl").read_text().splitlines())
    offload.write_rounds(*(row | {"device_kind": "hardware"} for row in rows))
    offload.remove_comparisons()


Change = Callable[[OffloadArchive], object]


def messages(verdict: Verdict, result: Result) -> list[str]:
    """What was found with that result: rule, message, evidence."""
    return [
        f"{finding.rule}: {finding.message} {' '.join(map(str, finding.evidence))}"
        for finding in verdict.findings
        if finding.result is result
    ]
