"""Which versions a run had loaded, and from which files: what the stage versions-and-paths found out."""

from pathlib import Path

from pydantic import BaseModel, ValidationError

from npu_assay.errors import AssayError
from npu_assay.evidence.document import read_document
from npu_assay.evidence.record import Record


class LoadedRecord(Record):
    """A component as it was imported."""

    version: str
    file: str


class _Package(BaseModel):
    name: str
    version: str
    path: str


class _Facts(BaseModel):
    """environment.json has more; this is what the manifest repeats."""

    packages: tuple[_Package, ...]


def read_loaded(path: Path) -> dict[str, LoadedRecord] | None:
    """Component -> what was loaded; None where environment.json is missing, or has no such list."""
    try:
        facts = _Facts.model_validate(read_document(path, path.name))
    except (AssayError, ValidationError):
        return None
    return {one.name: LoadedRecord(version=one.version, file=one.path) for one in facts.packages}
