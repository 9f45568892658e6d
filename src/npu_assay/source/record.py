"""What a run says about its vllm-ascend, in manifest.json and source/source.json."""

from typing import Annotated

from pydantic import Field, StringConstraints

from npu_assay.source.origin import Kind
from npu_assay.strict import Strict

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class PatchRecord(Strict):
    """A patch that was applied."""

    name: str
    """Its file's name as it was given."""
    file: Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[A-Za-z0-9._-]+$")]
    """Its name in the archive's source/patches."""
    sha256: Sha256


class SourceRecord(Strict):
    """The vllm-ascend of a run: where it comes from, and its hashes."""

    kind: Kind
    """`lock`: the environment's own, without --vllm-ascend and --patch."""
    given: str
    """SOURCE, without credentials; the lock's own in words."""
    commit: str | None
    """None where there is no git."""
    dirty: bool | None
    """Whether files differ from that commit, or are not in it; None where there is no git."""
    sha256: Sha256 | None
    """Of the source distribution or wheel; None for folders and repositories."""
    patches: tuple[PatchRecord, ...]
    tree_sha256: Sha256
    """Of source/files.sha256, the listing of all files after the patches."""
    files: Annotated[int, Field(gt=0)]
    version: str
    """Of the distribution vllm-ascend that the run imports."""
    version_from: str
    """Where its public part comes from."""
    notes: tuple[str, ...]

    @property
    def is_locks(self) -> bool:
        """Whether the environment's own package is the one that is imported."""
        return self.kind == "lock"
