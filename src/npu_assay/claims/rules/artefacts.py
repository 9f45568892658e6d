"""Every artefact of the environment is known by its hash: formal mode takes nothing on trust."""

from collections.abc import Iterator

from npu_assay.claims.case import Case, Mode
from npu_assay.claims.findings import Finding
from npu_assay.claims.rule import Rule


class ArtefactsRule(Rule):
    """No component of the lock had `unverified` in place of a sha256 when the run was made.

    Two files of one name and version can be different builds (CANN 9.0.0); without a hash nobody can tell
    which of them ran. A hash that is recorded afterwards says nothing about this run. Reads manifest.json,
    which the rule lock holds against the lock.
    """

    name = "artefacts"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        environment = case.manifest.environment
        where = case.in_manifest("environment", "unverified")
        if not environment.unverified:
            yield self.passed("every artefact of the environment has a recorded sha256", where)
        for component in environment.unverified:
            message = (
                f"{component}: the lock {environment.name} had no sha256 for it; record the file's and run"
                f" again: npu-assay env lock {environment.name} --record FILE"
            )
            if case.mode is Mode.FORMAL:
                yield self.failed(message, where)
            else:
                yield self.not_applicable(f"only formal mode asks for it: {message}", where)
