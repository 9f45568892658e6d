"""What the rules look at: the archive's raw files, and in which mode they are judged."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from npu_assay.claims.checkout import OWN, Checkout
from npu_assay.claims.findings import Evidence
from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.bounded import chunks_of
from npu_assay.evidence.json_places import JsonPlaces, Key
from npu_assay.evidence.jsonlines import Row, read_rows
from npu_assay.evidence.lines import lines_of
from npu_assay.evidence.manifest import Manifest, StageStatus, read_manifest
from npu_assay.evidence.terminal import without_colours
from npu_assay.source.archived import read_listing
from npu_assay.source.listing import Listing

#: Bytes of results. What a rule keeps of them is in memory: 1,319 answers of 512 tokens have 5 MB.
MOST_OF_A_ROW, MOST_OF_RESULTS = 1 << 20, 32 << 20

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
    """A line of a log without its terminal colours; see Case.log_lines for one that is very long."""

    text: str
    evidence: Evidence


@dataclass(frozen=True)
class Case:
    """An archive to judge."""

    archive: Archive
    mode: Mode
    checkout: Checkout = OWN
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Of a shard in a merged archive: stage -> the shard that ran it instead."""

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

    @cached_property
    def listing(self) -> Listing:
        """All files of the run's vllm-ascend. Raises UsageError when there is no good listing."""
        return read_listing(self.archive.source.listing)

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

    def log_size(self, stage: str) -> int:
        """Bytes of the stage's raw log. Raises UsageError when there is none."""
        try:
            return self.archive.stage_log(stage).stat().st_size
        except OSError as error:
            raise UsageError(f"{self.log_of(stage)}: can't be read ({error.strerror})") from error

    def log_chunks(self, stage: str) -> Iterator[bytes]:
        """The stage's raw log in chunks, as the readers of evidence/vllm_logs take it. Raises UsageError."""
        return chunks_of(self.archive.stage_log(stage), str(self.log_of(stage)))

    def log_lines(self, stage: str, *holding: str) -> Iterator[LogLine]:
        """The stage's log line by line, or those lines of it that hold one of the texts.

        A stage that went wild leaves millions of lines, or one without an end: they are never in memory
        together, and of a very long line only the beginning is, with a mark at its end that it was cut.
        Raises UsageError when the log can't be read.
        """
        words = tuple(text.encode() for text in holding) or (b"",)
        for line in lines_of(self.log_chunks(stage), words):
            text = without_colours(line.data.decode(errors="replace"))
            if line.cut:
                text += f" [cut: the first {len(line.data)} of {line.length} bytes]"
            yield LogLine(text, Evidence(f"stages/{stage}.log", line.number))

    def rows(self, name: str) -> Iterator[Row]:
        """The rows of a file in results/. Raises UsageError that names the file and what is wrong in it."""
        path = self.archive.root / name
        if path.is_file() and (size := path.stat().st_size) > MOST_OF_RESULTS:
            raise UsageError(f"{name}: expected at most {MOST_OF_RESULTS} bytes, found {size}")
        return read_rows(path, name, MOST_OF_A_ROW)
