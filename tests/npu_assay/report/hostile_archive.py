"""An archive whose every word wants to be obeyed: by a browser, by Markdown, by a terminal."""

import json
from pathlib import Path

from offload_archive import OffloadArchive, round_row

from npu_assay.evidence.manifest import FileRecord, ModelRecord, StageStatus
from npu_assay.report.derived import REPORTS, derive

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"\'><img src="http://evil.example/x.png" onerror=alert(1)>'
MARKDOWN = "|**bold** `code` [text](http://evil.example) ![image](x) <b>html</b> @user #1\n# heading\n- item"
TEMPLATE = "{{ 7 * 7 }}{% raw %}"
CONTROLS = (
    "nul\x00 bell\x07 \x1b[31mred\x1b]0;title\x07 \N{RIGHT-TO-LEFT OVERRIDE}txt.exe \N{ZERO WIDTH SPACE}"
)
WORDS = f"{SCRIPT}{IMAGE}{MARKDOWN}{TEMPLATE}{CONTROLS}"


def make_hostile(root: Path) -> OffloadArchive:
    """Sealed, with what is derived from it. It fails, and its findings quote the worst of it."""
    offload = OffloadArchive(root)
    offload.write_tree(
        {"vllm_ascend/__init__.py": "", "csrc/a": "x"},
        patches={"0001-a.patch": WORDS},
        base={"csrc/a": "x"},
        given=WORDS,
        notes=(WORDS,),
        version_from=WORDS,
    )
    environment = offload.manifest.environment.model_copy(
        update={
            "name": WORDS,
            "deviations": {WORDS: WORDS},
            "notes": {"torch": (WORDS,)},
            "versions": {**offload.manifest.environment.versions, WORDS: WORDS},
        }
    )
    model = ModelRecord(
        path=WORDS,
        architectures=(WORDS,),
        model_type=WORDS,
        files={WORDS: FileRecord(sha256="0" * 64, size=1)},
    )
    host = offload.manifest.host.model_copy(update={"system": WORDS, "kernel": WORDS})
    offload.change_manifest(environment=environment, model=model, host=host)
    offload.change_stage(
        "unit",
        status=StageStatus.FAIL,
        exit_code=1,
        reason=WORDS,
        command=("sh", "-c", WORDS),
        left_behind=(WORDS,),
        settings={"x": WORDS},
    )
    log = (offload.root / "stages/versions-and-paths.log").read_bytes()
    nasty = b"\xff\xfe" + WORDS.replace("\n", " ").encode() + b"A" * (1 << 20) + b"\n"
    log = log.replace(b"torch 2.9.0", nasty + b"torch 6.6.6 ``` " + SCRIPT.encode(), 1)
    (offload.root / "stages/versions-and-paths.log").write_bytes(log)
    rows = [
        *(round_row(run) for run in (1, 2)),
        round_row(3, backend="native", external_cached_tokens=WORDS, cold_seconds=WORDS),
        round_row(4, backend=WORDS, run=WORDS),
    ]
    offload.write("results/kv-offload.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    offload.write("stages/native-transfer.junit.xml", f"<{WORDS}")
    offload.write("environment.json", '{"packages": [{"name": 1}], "cann_identity": "EMULATED"}')
    offload.derive()
    offload.write(f"results/{SCRIPT.replace('/', ' ')} \"'`|[x](y) \x1b[31m.jsonl", "not in SHA256SUMS")
    derive(offload.root, offload.checkout, REPORTS)
    return offload
