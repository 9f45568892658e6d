"""What the rules look at: the archive's raw files, and in which mode they are judged."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from npu_assay.claims.checkout import OWN, Checkout
from npu_assay.claims.findings import Evidence
from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.json_places import JsonPlaces, Key
from npu_assay.evidence.manifest import Manifest, StageStatus, read_manifest
from npu_assay.evidence.terminal import without_colours

_RUN = (StageStatus.PASS, StageStatus.FAIL, StageStatus.INCONCLUSIVE)


class Mode(StrEnum):
    """How strict `verify` is."""

    FORMAL = "formal"
    """The published result on an NPU: everything, as published."""
    LIMITED = "limited"
    """What is there: stages may be missing and settings may differ, and the verdict says so."""
    EMULATED = "emulated"
    """The published result's rules on an emulated NPU: no evidence about an NPU."""


@dataclass(frozen=True)
class LogLine:
    """A line of a log without its terminal colours."""

    text: str
    evidence: Evidence


@dataclass(frozen=True)
class Case:
    """An archive to judge."""

    archive: Archive
    mode: Mode
    checkout: Checkout = OWN

    @cached_property
    def manifest(self) -> Manifest:
        """Raises UsageError when there is none, or a malformed one."""
        return read_manifest(self.archive.manifest)

    @cached_property
    def _manifest_places(self) -> JsonPlaces:
        return JsonPlaces.of(self.archive.manifest.read_bytes().decode(errors="replace"))

    def in_manifest(self, *keys: Key) -> Evidence:
        """Where manifest.json says that; of a stage, `stages` is followed by its name."""
        if keys[:1] == ("stages",) and len(keys) > 1:
            names = [stage.name for stage in self.manifest.stages]
            position = names.index(str(keys[1])) if keys[1] in names else len(names)
            keys = ("stages", position, *keys[2:])
        return Evidence("manifest.json", self._manifest_places.line_of(*keys))

    def was_run(self, stage: str) -> bool:
        """Whether the stage ran to an end of its own, by its raw log as well as by the manifest.

        What an interrupted stage left is not judged: the stages rule calls it inconclusive.
        """
        record = self.manifest.stage(stage)
        if record is not None and record.status is StageStatus.INTERRUPTED:
            return False
        return self.archive.stage_log(stage).exists() or (record is not None and record.status in _RUN)

    def log_of(self, stage: str) -> Evidence:
        return Evidence(f"stages/{stage}.log")

    def log(self, stage: str) -> bytes:
        """The stage's raw log. Raises UsageError when it can't be read."""
        try:
            return self.archive.stage_log(stage).read_bytes()
        except OSError as error:
            raise UsageError(f"{self.log_of(stage)}: can't be read ({error.strerror})") from error

    def log_lines(self, stage: str, holding: str = "") -> Iterator[LogLine]:
        """The stage's log line by line, or those lines of it that hold a text.

        A stage that went wild leaves millions of lines, so they are never in memory together. Raises
        UsageError when the log can't be read.
        """
        wanted = holding.encode()
        try:
            # Progress bars overwrite their line with a carriage return: only a line feed ends a line.
            with self.archive.stage_log(stage).open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if wanted in line:
                        text = line.removesuffix(b"\n").decode(errors="replace")
                        yield LogLine(without_colours(text), Evidence(f"stages/{stage}.log", number))
        except OSError as error:
            raise UsageError(f"{self.log_of(stage)}: can't be read ({error.strerror})") from error
