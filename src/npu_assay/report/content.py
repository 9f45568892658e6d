"""Everything that a report says, from the sealed files of an archive and the verdict on it.

The renderers (`markdown.py`, `html.py`) only lay it out. Nothing here knows the time, the machine, the locale
or where the archive lies, so that the same archive leads to the same bytes everywhere.
"""

from dataclasses import dataclass

from npu_assay.claims.findings import Result
from npu_assay.claims.verdict import Verdict
from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive, special_files
from npu_assay.evidence.manifest import Manifest, StageRecord, StageStatus, read_manifest
from npu_assay.evidence.merged.part import shard_folders
from npu_assay.report.facts import Departure, Fact, command_line, departures, facts, settings
from npu_assay.report.findings import RuleFindings, ShownFinding, by_rule
from npu_assay.report.headline import Headline, headline
from npu_assay.report.legible import seconds
from npu_assay.report.loaded import Components, components
from npu_assay.report.rounds import OffloadRounds, offload_rounds
from npu_assay.report.tested import StageTests, tests_of
from npu_assay.report.timeline import Bar, Mark, timeline


@dataclass(frozen=True)
class ShownStage:
    """A stage of a run."""

    record: StageRecord
    took: str
    bar: Bar | None
    command: str
    settings: str
    log: str
    """Its log in the archive; empty where there is none."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be said of how it ended."""
        reason = (self.record.reason,) if self.record.reason else ()
        return (*reason, *(f"had to be ended: {process}" for process in self.record.left_behind))


@dataclass(frozen=True)
class Run:
    """One run: an archive's, or that of a shard of a merged one."""

    folder: str
    """Where in the archive it is, with a slash at the end; empty for the archive itself."""
    manifest: Manifest
    facts: tuple[Fact, ...]
    departures: tuple[Departure, ...]
    stages: tuple[ShownStage, ...]
    marks: tuple[Mark, ...]
    rounds: OffloadRounds | None
    tests: tuple[StageTests, ...]
    components: Components

    @property
    def of_shard(self) -> str:
        """What its headings end with; only runs of shards have to be told apart."""
        return f" in shard {self.manifest.shard}" if self.folder and self.manifest.shard else ""


@dataclass(frozen=True)
class ReportContent:
    """All of a report."""

    headline: Headline
    rules: tuple[RuleFindings, ...]
    runs: tuple[Run, ...]
    """Empty where the archive can't be read: then the findings say why."""

    @classmethod
    def of(cls, archive: Archive, verdict: Verdict) -> "ReportContent":
        """`verdict` is that in the archive's own mode. Never raises for what an archive holds."""
        archive = Archive(archive.root.absolute())  # errors name files by it, which is cut off again
        rules = by_rule(archive.root, verdict.findings)
        # Links and pipes are never followed or opened; the integrity rule names them.
        runs = () if special_files(archive.root) else _runs(archive)
        manifest = runs[0].manifest if runs else None
        return cls(headline(verdict, manifest), rules, runs)

    @property
    def worst(self) -> tuple[ShownFinding, ...]:
        """What keeps the verdict from being a pass: all that failed, or else what is inconclusive."""
        wanted = self.headline.result
        if wanted is Result.PASS:
            return ()
        return tuple(one for rule in self.rules for one in rule.findings if one.result is wanted)


def _runs(archive: Archive) -> tuple[Run, ...]:
    """The archive's run, or those of its shards; one whose manifest can't be read has a finding instead."""
    if not archive.is_merged:
        return _run(archive, "")
    folders = [
        (folder, f"{folder.relative_to(archive.root).as_posix()}/") for folder in shard_folders(archive)
    ]
    return tuple(run for folder, name in folders for run in _run(Archive(folder), name))


def _run(archive: Archive, folder: str) -> tuple[Run, ...]:
    try:
        manifest = read_manifest(archive.manifest)
    except UsageError:
        return ()
    axis = timeline(manifest)
    # What a shard of several did not run is another one's affair.
    records = [one for one in manifest.stages if not folder or one.status is not StageStatus.NOT_RUN]
    run = Run(
        folder=folder,
        manifest=manifest,
        facts=facts(manifest),
        departures=departures(manifest),
        stages=tuple(_stage(archive, record, axis.bars.get(record.name)) for record in records),
        marks=axis.marks,
        rounds=offload_rounds(archive),
        tests=tests_of(archive, manifest),
        components=components(archive, manifest),
    )
    return (run,)


def _stage(archive: Archive, record: StageRecord, bar: Bar | None) -> ShownStage:
    log = archive.stage_log(record.name)
    return ShownStage(
        record=record,
        took="" if bar is None else seconds(bar.takes),
        bar=bar,
        command=command_line(record),
        settings=settings(record),
        log=log.relative_to(archive.root).as_posix() if log.is_file() else "",
    )
