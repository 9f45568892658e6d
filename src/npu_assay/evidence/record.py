"""What the records of a run have in common: no unknown key, no number that JSON lacks, every key written."""

from pydantic import ConfigDict, Field

from npu_assay.source.record import Sha256
from npu_assay.strict import Strict


class Record(Strict):
    """The base of all that stands in manifest.json."""

    model_config = ConfigDict(allow_inf_nan=False, json_schema_serialization_defaults_required=True)


class FileRecord(Record):
    """A file, as it was when it was used."""

    sha256: Sha256
    size: int = Field(ge=0)
    """In bytes."""
