"""Are these archives the shards of one run, all of them, each once? Others are refused."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from npu_assay.evidence.merged.part import Part
from npu_assay.printable import printable

#: What one shard says of itself, to be compared: any value that JSON has.
_Told = Callable[[Part], object]
_SHOWN = 120


@dataclass(frozen=True)
class Disagreement:
    """A reason why these are not the shards of one run."""

    message: str
    parts: tuple[Part, ...]
    """Those that are concerned."""


def disagreements(parts: Sequence[Part]) -> Iterator[Disagreement]:
    """All reasons, the plainest first. Each names the archives concerned, and what both of them say."""
    if not parts:
        yield Disagreement("no shard at all", ())
        return
    yield from _count(parts)
    for subject, told in _SAME.items():
        yield from _differences(parts, subject, told)
    yield from _coverage(parts)


def _count(parts: Sequence[Part]) -> Iterator[Disagreement]:
    """Each of the N shards, once."""
    by_count = _first_of_each(parts, lambda part: part.shard.count)
    if len(by_count) > 1:
        one, other = by_count[:2]
        yield Disagreement(
            f"{one.name} is shard {one.shard}, {other.name} is shard {other.shard}: of another division",
            (one, other),
        )
        return
    seen: dict[int, Part] = {}
    for part in parts:
        if (before := seen.setdefault(part.shard.index, part)) is not part:
            yield Disagreement(
                f"{before.name} and {part.name} are both shard {part.shard}; each is there once",
                (before, part),
            )
    count = parts[0].shard.count
    if missing := [str(index) for index in range(1, count + 1) if index not in seen]:
        plural = "s" * (len(missing) > 1)
        there = ", ".join(f"{part.name} is {part.shard}" for part in parts)
        yield Disagreement(f"shard{plural} {', '.join(missing)} of {count} missing: {there}", tuple(parts))


def _differences(parts: Sequence[Part], subject: str, told: _Told) -> Iterator[Disagreement]:
    """Every shard that says something else than the first."""
    first = parts[0]
    expected = told(first)
    for part in parts[1:]:
        if (found := told(part)) != expected:
            where, one, other = _first_difference(expected, found)
            key = f"{printable(where)} is " if where else ""
            yield Disagreement(
                f"{first.name} and {part.name} differ in {subject}: {key}{_shown(one)} and {_shown(other)}",
                (first, part),
            )


def _environment(part: Part) -> object:
    """The lock's word. What was compiled on a host is that host's: the names count, the bytes may differ."""
    record = part.manifest.environment.model_dump(mode="json")
    return record | {"rebuilt": sorted(record["rebuilt"])}


def _source(part: Part) -> object:
    """Where a tree comes from is another path on another host; what is in it is not."""
    source = part.manifest.source
    return {
        "tree_sha256": source.tree_sha256,
        "version": source.version,
        "patches": [patch.sha256 for patch in source.patches],
        "commit": source.commit,
    }


def _model(part: Part) -> object:
    """As for the source: its files, not its folder."""
    model = part.manifest.model
    return None if model is None else model.model_dump(mode="json", exclude={"path"})


def _image(part: Part) -> object:
    """Whatever name each host has for it."""
    image = part.manifest.image
    return None if image is None else image.model_dump(mode="json", exclude={"reference"})


def _loaded(part: Part) -> object:
    return {name: package.version for name, package in (part.manifest.loaded or {}).items()}


def _chips(part: Part) -> object:
    return ", ".join(sorted({die.name for die in part.manifest.device.dies if die.name is not None}))


#: Subject -> what has to be the same in all shards.
_SAME: dict[str, _Told] = {
    "the pipeline": lambda part: part.manifest.pipeline.model_dump(mode="json"),
    "the environment": _environment,
    "the vllm-ascend": _source,
    "the model": _model,
    "the image": _image,
    "the settings": lambda part: {stage.name: stage.settings for stage in part.manifest.stages},
    "the kind of device": lambda part: part.manifest.device.kind,
    "the chip": _chips,
    "what was loaded": _loaded,
    "the CANN that was loaded": lambda part: part.cann_identity,
    "npu-assay": lambda part: part.manifest.project.model_dump(mode="json", exclude={"python"}),
}


def _coverage(parts: Sequence[Part]) -> Iterator[Disagreement]:
    """Every stage was run by one shard, and those of every shard by all."""
    for part in parts:
        if part.manifest.interrupted:
            yield Disagreement(f"{part.name}: the run was interrupted; run this shard again", (part,))
    every = parts[0].every_shard
    for stage in parts[0].manifest.stages:
        ran = [part for part in parts if stage.name in part.ran]
        if stage.name in every:
            for part in parts:
                if part not in ran:
                    yield Disagreement(
                        f"{part.name} did not run stage {stage.name}, which every shard has", (part,)
                    )
        elif len(ran) > 1:
            yield Disagreement(
                f"{ran[0].name} and {ran[1].name} both ran stage {stage.name}, which is one shard's",
                tuple(ran),
            )
        elif not ran:
            names = " nor ".join(part.name for part in parts)
            yield Disagreement(f"stage {stage.name} was run by none: neither {names}", tuple(parts))


def _first_of_each(parts: Sequence[Part], key: Callable[[Part], int]) -> list[Part]:
    found: dict[int, Part] = {}
    for part in parts:
        found.setdefault(key(part), part)
    return list(found.values())


def _first_difference(one: object, other: object, where: str = "") -> tuple[str, object, object]:
    """Which key differs, as deep as both have objects, and its two values: a whole record is too long."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            if one.get(key) != other.get(key):
                inner = f"{where}.{key}" if where else str(key)
                return _first_difference(one.get(key), other.get(key), inner)
    return where, one, other


def _shown(value: object) -> str:
    if value in (None, ""):
        return "nothing"
    text = printable(value if isinstance(value, str) else json.dumps(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
