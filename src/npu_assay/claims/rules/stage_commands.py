"""The commands of a manifest are the pipeline's, with the same folders and programs in all of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from npu_assay.claims.case import Case
from npu_assay.claims.rules.versions import loaded_path
from npu_assay.environment.lock import DEVICE_WORD
from npu_assay.pipeline.command import PLACEHOLDER
from npu_assay.pipeline.definition import Pipeline

#: Placeholders that stand for several words, with how many; and what those after the first are.
_SEVERAL = {"assay": ("-I", "-m", "npu_assay")}
_SHOWN = 3


@dataclass
class _Filled:
    """What stood for each placeholder so far, and in which stage."""

    values: dict[str, tuple[str, str]] = field(default_factory=dict)

    def take(self, stage: str, placeholder: str, value: str) -> str | None:
        """The problem with another value than before, or with none."""
        if not value:
            return f"{{{placeholder}}} stands for nothing"
        known, where = self.values.setdefault(placeholder, (value, stage))
        return None if known == value else f"{{{placeholder}}} is {value}, in {where} it is {known}"


def check_commands(case: Case, pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Stage and problem, of each stage whose command is not the pipeline's, filled in as the others are."""
    filled, manifest = _Filled(), case.manifest
    filled.values["environment"] = (manifest.environment.name, "the manifest's environment")
    filled.values["device"] = (DEVICE_WORD[manifest.device.kind], "the manifest's device")
    package = loaded_path(case, "vllm-ascend")
    if package is not None:
        folder = str(PurePosixPath(package).parent)
        filled.values["vllm_ascend"] = (folder, "the log of versions-and-paths")
    for stage in pipeline.stage:
        record = manifest.stage(stage.name)
        if record is None or not record.command:
            continue
        for problem in _match(stage.name, stage.command, list(record.command), filled):
            yield stage.name, problem
    yield from _belong_together(filled)


def _match(stage: str, words: list[str], actual: list[str], filled: _Filled) -> Iterator[str]:
    rest = list(actual)
    for word in words:
        whole = PLACEHOLDER.fullmatch(word)
        after = _SEVERAL.get(whole[1], ()) if whole else ()
        if len(rest) <= len(after):
            yield f"its command ends before {word!r}"
            return
        found, *more = rest[: 1 + len(after)]
        del rest[: 1 + len(after)]
        if tuple(more) != after:
            yield f"expected {' '.join(after)} after {found}, found {' '.join(more)}"
            return
        pattern = "(.*)".join(re.escape(part) for part in PLACEHOLDER.split(word)[::2])
        match = re.fullmatch(pattern, found, flags=re.DOTALL)
        if match is None:
            yield f"its command has {found!r} where the pipeline has {word!r}"
            return
        for placeholder, value in zip(PLACEHOLDER.findall(word), match.groups(), strict=True):
            if placeholder == "junit":
                # The one that differs from stage to stage.
                suffix = f"/stages/{stage}.junit.xml"
                if not value.endswith(suffix):
                    yield f"{{junit}} is {value}, expected <archive>{suffix}"
                    continue
                placeholder, value = "archive", value.removesuffix(suffix)
            if problem := filled.take(stage, placeholder, value):
                yield problem
    if rest:
        yield f"its command goes on: {' '.join(rest[:_SHOWN])}"


def _belong_together(filled: _Filled) -> Iterator[tuple[str, str]]:
    """The folders of one environment, and those of one checkout."""
    values = {name: (PurePosixPath(value), stage) for name, (value, stage) in filled.values.items()}
    if {"python", "site"} <= values.keys():
        (python, _), (site, stage) = values["python"], values["site"]
        if python.parent.parent not in site.parents:
            yield stage, f"{{site}} is {site}, which is not of the environment of {python}"
    if {"suites", "plugin"} <= values.keys():
        (suites, _), (plugin, stage) = values["suites"], values["plugin"]
        if suites.parent.parent != plugin.parent:
            yield stage, f"{{plugin}} is {plugin}, which is not of the checkout of {suites}"
