"""environment.json: what the suite versions-and-paths found, in the form in which it writes it."""

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence
from npu_assay.errors import UsageError
from npu_assay.evidence.document import read_document
from npu_assay.strict import first_problem

FACTS = Evidence("environment.json")


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class PythonFacts(_Facts):
    """The interpreter."""

    version: str
    executable: str


class PackageFacts(_Facts):
    """A distribution, and the file that its module was loaded from."""

    name: str
    version: str
    path: str


class DeviceFacts(_Facts):
    """The NPUs that torch saw."""

    kind: str
    count: int
    name: str


class BindingFacts(_Facts):
    """vllm-ascend's compiled module; `replaces` is null for the wheel's own."""

    path: str
    sha256: str
    replaces: dict[str, Any] | None


class EnvironmentFacts(_Facts):
    """All but the files of vllm-ascend, which the rule source reads."""

    python: PythonFacts
    packages: list[PackageFacts]
    vllm_ascend_binding: BindingFacts
    device: DeviceFacts
    process_map: list[str]
    cann_identity: str


def read_facts(case: Case) -> EnvironmentFacts:
    """Raises UsageError that names the first thing wrong in the file."""
    try:
        return EnvironmentFacts.model_validate(read_document(case.archive.environment, str(FACTS)))
    except ValidationError as error:
        raise UsageError(f"{FACTS}: {first_problem(error)}") from error
