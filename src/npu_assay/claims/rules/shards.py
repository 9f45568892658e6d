"""The shards of a merged archive are those of one run, all of them, each once.

Read are the shards' own manifests, pipeline files and environment.json; merged.json and junit.xml are made
again from them. It can't be known whether two hosts that call themselves alike are alike: the rules of each
shard hold what it loaded and which dies it had against its raw files.
"""

from collections.abc import Iterator
from pathlib import Path

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.evidence.archive import UNSEALED, Archive
from npu_assay.evidence.merged.agreement import disagreements
from npu_assay.evidence.merged.merged_junit import render_merged_junit
from npu_assay.evidence.merged.part import Part, parts_of
from npu_assay.evidence.merged.record import folder_of, record_of, render_record
from npu_assay.printable import printable

_MERGED = Evidence("merged.json")


class ShardsRule(Rule):
    """Everything that `archive merge` refuses, looked for again, and what it wrote, made again."""

    name = "shards"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        parts = parts_of(case.archive)
        problems = [*self._layout(case.archive, parts), *self._shards(parts)]
        if parts:
            problems += self._derived(case.archive, parts)
        yield from problems
        if not problems:
            yield self.passed(f"one run in {len(parts)} shards: {'; '.join(map(_ran, parts))}", _MERGED)

    def _layout(self, archive: Archive, parts: list[Part]) -> Iterator[Finding]:
        known = UNSEALED | {archive.merged.name, archive.junit.name, archive.shards.name}
        names = [path.name for path in archive.root.iterdir() if path.name not in known]
        names += [f"shards/{path.name}" for path in archive.shards.glob("*") if not path.is_dir()]
        for name in sorted(names):
            yield self.failed(f"{printable(name)}: no part of a merged archive", Evidence(name))
        for part in parts:
            if part.name != (expected := folder_of(part.shard)):
                where = Evidence(f"{part.name}/manifest.json")
                yield self.failed(f"{part.name} is shard {part.shard}, whose place is {expected}", where)

    def _shards(self, parts: list[Part]) -> Iterator[Finding]:
        for disagreement in disagreements(parts):
            places = [Evidence(f"{part.name}/manifest.json") for part in disagreement.parts]
            yield self.failed(disagreement.message, *places)

    def _derived(self, archive: Archive, parts: list[Part]) -> Iterator[Finding]:
        made = {
            archive.merged: render_record(record_of(parts)),
            archive.junit: render_merged_junit(parts).encode(),
        }
        for path, expected in made.items():
            if not _holds(path, expected):
                message = f"{path.name}: not what archive merge makes of the shards"
                yield self.failed(message, Evidence(path.name))


def _holds(path: Path, expected: bytes) -> bool:
    """Whether a file has exactly these bytes; no more of it is read than that takes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(expected) + 1) == expected


def _ran(part: Part) -> str:
    host = part.manifest.host
    told = "" if host.id is None else f", id {host.id[:8]},"
    return f"{part.shard} on {host.system}, {host.kernel}, {host.machine}{told} ran {', '.join(part.ran)}"
