"""The archive holds what a run leaves, and nothing else that somebody might take for its results."""

import re
from collections.abc import Collection, Iterable, Iterator

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.evidence.archive import UNSEALED
from npu_assay.evidence.cann_files import LISTING, Role
from npu_assay.evidence.contents import contents_of

_SHOWN = 20
#: What stands in an archive whichever stages were run; `source/` and `device/` are other rooms' layouts.
_EVERY_RUN = (
    r"manifest\.json",
    r"junit\.xml",
    r"environment\.json",
    r"image\.json",
    r"inputs/(?:lock|pipeline)\.toml",
    r"source/(?:source\.json|build\.json|files\.sha256|base-native\.sha256|patches/[^/]+)",
    r"device/(?:after/)?(?:devices\.json|npu-smi-[a-z0-9-]+\.txt)",
    rf"cann/(?:{re.escape(LISTING)}|(?:{'|'.join(Role)})/[^/]+)",
)


class ContentsRule(Rule):
    """Every file is one that the stages of the manifest leave, or one of the results that a rule judges.

    Reads names alone. A result that no rule judges would stand beside a verdict that says nothing about it.
    """

    name = "contents"
    version = 1

    def __init__(self, results: Collection[str]) -> None:
        self._results = results

    def check(self, case: Case) -> Iterator[Finding]:
        stages = [stage.name for stage in case.manifest.stages]
        known = re.compile("|".join([*_EVERY_RUN, *_of_stages(stages), *map(re.escape, self._results)]))
        # Whether it is derived files that are there must not change what is derived.
        names = sorted(contents_of(case.archive.root).names - UNSEALED)
        strays = [name for name in names if not known.fullmatch(name)]
        for name in strays[:_SHOWN]:
            yield self.failed("no stage of this run leaves such a file", Evidence(name))
        if len(strays) > _SHOWN:
            yield self.failed(f"and {len(strays) - _SHOWN} more files that no stage leaves")
        if not strays:
            yield self.passed(f"the {len(names)} files are such as a run leaves")


def _of_stages(stages: Iterable[str]) -> Iterator[str]:
    """What the runner and the suites leave of each stage."""
    for stage in map(re.escape, stages):
        yield rf"stages/{stage}\.(?:log|junit\.xml|inputs\.json)"
        yield rf"plog/{stage}/.+"
