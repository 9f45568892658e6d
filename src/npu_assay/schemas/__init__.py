"""The JSON Schemas (2020-12) of what `--json` prints, beside this file: `<name>.schema.json`.

They are written from the models by ci/schemas and committed; a test fails when one is stale.
"""

import importlib
import json
from pathlib import Path

from pydantic import BaseModel

FOLDER = Path(__file__).parent

#: Name of the schema -> the model that is printed. A command with a --json of its own adds a line.
MODELS = {
    "baseline": "npu_assay.comparison.baseline:Baseline",
    "claims-check": "npu_assay.claims.publications.report:ClaimsReport",
    "claims-list": "npu_assay.claims.publications.report:ClaimsList",
    "comparison": "npu_assay.comparison.comparison:Comparison",
    "device-health": "npu_assay.device.reports:DeviceHealth",
    "device-list": "npu_assay.device.reports:DeviceList",
    "device-map": "npu_assay.device.reports:DeviceMapReport",
    "doctor": "npu_assay.doctor.report:DoctorReport",
    "env-check": "npu_assay.environment.drift.report:DriftReport",
    "env-diff": "npu_assay.environment.difference:LockDifference",
    "fetched": "npu_assay.environment.fetched:Fetched",
    "image": "npu_assay.evidence.image:ImageRecord",
    "image-provenance": "npu_assay.docker.provenance:ProvenanceStatement",
    "image-sizes": "npu_assay.docker.sizes:ImageSizes",
    "lock": "npu_assay.environment.lock:LockFile",
    "manifest": "npu_assay.evidence.manifest:Manifest",
    "merged": "npu_assay.evidence.merged.record:MergedRecord",
    "publication": "npu_assay.claims.publications.model:Publication",
    "stage-inputs": "npu_assay.evidence.stage_inputs:StageInputs",
    "statement": "npu_assay.report.statement:Statement",
    "verify": "npu_assay.claims.verify_report:VerifyReport",
}

#: Those that people write and npu-assay reads: what has a default may be left out.
READ = ("lock", "publication", "stage-inputs")


def schema_file(name: str) -> Path:
    """Where the schema of that name is."""
    return FOLDER / f"{name}.schema.json"


def render(name: str) -> str:
    """The schema of that name as its file has to be."""
    module, _, attribute = MODELS[name].partition(":")
    model = getattr(importlib.import_module(module), attribute)
    assert issubclass(model, BaseModel), f"{MODELS[name]} is no pydantic model"
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **model.model_json_schema(mode="validation" if name in READ else "serialization"),
    }
    return json.dumps(schema, indent=2) + "\n"


def stale() -> list[str]:
    """The names of schemas whose file is missing or not what the model says, and of files without a model."""
    names = [
        name
        for name in MODELS
        if not schema_file(name).is_file() or schema_file(name).read_text() != render(name)
    ]
    known = {schema_file(name) for name in MODELS}
    return names + [path.name for path in FOLDER.glob("*.schema.json") if path not in known]
