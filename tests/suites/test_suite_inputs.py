"""What the suites leave about their inputs is what the runner reads."""

import hashlib
from pathlib import Path

from support.inputs import Prompts, write_inputs

from npu_assay.evidence.record import FileRecord
from npu_assay.evidence.stage_inputs import read_stage_inputs


def test_what_a_suite_leaves_is_what_the_runner_reads(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "sub" / "weights").write_bytes(b"abc")
    file = tmp_path / "stages" / "engine.inputs.json"
    write_inputs(file, {"tiny": folder}, {"prompts": Prompts("made here", "seed 0", [[1, 2], [3]])})
    inputs = read_stage_inputs(file, file.name)
    (model,), (dataset,) = inputs.models, inputs.datasets
    assert model.name == "tiny"
    assert model.files == {
        name: FileRecord(sha256=hashlib.sha256(data).hexdigest(), size=len(data))
        for name, data in (("config.json", b"{}"), ("sub/weights", b"abc"))
    }
    assert (dataset.source, dataset.revision, dataset.rows) == ("made here", "seed 0", 2)
    assert dataset.sha256 == hashlib.sha256(b"[1, 2]\n[3]\n").hexdigest()
