"""The environment that the manifest describes is the lock's, and the lock is the published one."""

from collections.abc import Iterator, Mapping

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.claims.rules.published_input import PublishedInput
from npu_assay.environment.lock import Lock, read_lock
from npu_assay.environment.variant import Variant
from npu_assay.evidence.environment_record import environment_record

LOCK = Evidence("inputs/lock.toml")
#: What the manifest repeats of a lock, by component.
_REPEATED = ("versions", "builds", "deviations", "notes", "absent")


class LockRule(Rule):
    """inputs/lock.toml is what the manifest was made from, and byte for byte this checkout's.

    Reads inputs/lock.toml and this checkout's ci/environments; holds the manifest's name, hash, versions,
    builds, deviations, notes, and which components are unverified, absent or rebuilt against them. What was
    really loaded is the affair of the rules versions and cann. It can't know whether the hashes of a lock are
    those of good files: that is what a lock is for.
    """

    name = "lock"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        record = case.manifest.environment
        kept = PublishedInput(
            copy=case.archive.root / LOCK.file,
            place=LOCK,
            sha256=record.lock_sha256,
            said=case.in_manifest("environment", "lock_sha256"),
            published=case.checkout.lock(record.name),
        )
        yield from kept.judge(self)
        if not kept.copy.is_file():
            return
        lock = read_lock(kept.copy)
        if lock.name != record.name:
            where = case.in_manifest("environment", "name")
            yield self.failed(f"the lock is {lock.name}, the manifest says {record.name}", LOCK, where)
        yield from self._repeated(case, lock)
        yield from self._pipelines(case, lock)

    def _repeated(self, case: Case, lock: Lock) -> Iterator[Finding]:
        record, kind = case.manifest.environment, case.manifest.device.kind
        variant = Variant.of(lock, kind)
        given = environment_record(variant, case.manifest.host.machine, record.rebuilt)
        differences = 0
        for field in _REPEATED:
            said: Mapping[str, object] = getattr(record, field)
            wanted: Mapping[str, object] = getattr(given, field)
            for component in sorted(name for name in {*said, *wanted} if said.get(name) != wanted.get(name)):
                differences += 1
                found, expected = (_shown(side.get(component)) for side in (said, wanted))
                yield self.failed(
                    f"{field} of {component}: the manifest says {found}, the lock for {kind} {expected}",
                    case.in_manifest("environment", field, component),
                    LOCK,
                )
        if record.unverified != given.unverified:
            differences += 1
            found, expected = (", ".join(one.unverified) or "none" for one in (record, given))
            yield self.failed(
                f"unverified components: the manifest says {found}, the lock {expected}",
                case.in_manifest("environment", "unverified"),
                LOCK,
            )
        rebuilt = [name for name, component in variant.components.items() if component.rebuilt]
        if bool(rebuilt) != bool(record.rebuilt):
            differences += 1
            found, expected = (", ".join(names) or "nothing" for names in (record.rebuilt, rebuilt))
            yield self.failed(
                f"rebuilt: the manifest says {found}, the lock has {expected} rebuilt",
                case.in_manifest("environment", "rebuilt"),
                LOCK,
            )
        if not differences:
            message = f"versions, builds, deviations and notes are those of its {kind} variant"
            yield self.passed(message, LOCK, case.in_manifest("environment"))

    def _pipelines(self, case: Case, lock: Lock) -> Iterator[Finding]:
        able, pipeline = lock.content.pipelines, case.manifest.pipeline.name
        if able is not None and pipeline not in able:
            yield self.inconclusive(
                f"the lock says that its environment is for {', '.join(able)}, not for {pipeline}", LOCK
            )


def _shown(value: object) -> str:
    return "nothing" if value is None else repr(value)
