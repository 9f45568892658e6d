"""What nothing in an archive contradicts once it is sealed again; docs/evidence.md has it in words.

Each lie is tried as well. As it is, its checksum betrays it; sealed again, it passes, and only a signature of
whoever ran it tells. When a rule learns to see one, the test fails, and the lie moves to its family.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from mutations.forged import Forged, Json
from mutations.good import GOOD, Good

ROUNDS = "results/kv-offload.jsonl"
#: Values of JSON files, by file and path, that no raw file repeats.
UNJUDGED = {
    "manifest.json": re.compile(
        r"host\.(id|system|kernel|cpus|memory_bytes)|project\.(version|python|commit|dirty)"
        r"|stages\.\d+\.seconds"
    ),
    "environment.json": re.compile(r"vllm_ascend_files\.vllm_ascend/_build_info\.py"),
}


@dataclass(frozen=True)
class Lie:
    """One of them."""

    name: str
    """As in the documentation's table."""
    change: Callable[[Forged], object]
    good: Good = GOOD[0]
    """What it is told of."""


def _host(manifest: Json) -> None:
    manifest["host"].update(kernel="6.6.0", cpus=192, memory_bytes=2 << 40)


def _commit(manifest: Json) -> None:
    manifest["project"].update(commit="f" * 40, dirty=False)


def _image(forged: Forged) -> None:
    def edit(image: Json) -> None:
        image.update(base="debian:bookworm", revision="f" * 40, digest={"of": "id", "sha256": "0" * 64})

    forged.edit_json("image.json", edit)
    forged.edit_manifest(lambda manifest: edit(manifest["image"]))


def _seconds(manifest: Json) -> None:
    for stage in manifest["stages"]:
        stage["seconds"] = round(stage["seconds"] * 0.999, 3)


def _swapped(rows: list[Json]) -> list[Json]:
    """Only the log knows which prompt came first."""
    return [rows[1] | {"run": 1}, rows[0] | {"run": 2}, *rows[2:]]


LIES = (
    Lie("another machine", lambda forged: forged.edit_manifest(_host)),
    Lie("another commit of npu-assay", lambda forged: forged.edit_manifest(_commit)),
    Lie("another base, revision or digest of the image", _image, GOOD[1]),
    Lie("a little less time", lambda forged: forged.edit_manifest(_seconds)),
    Lie(
        "rounds exchanged, in rows and log",
        lambda forged: forged.write_rows(ROUNDS, _swapped(forged.rows(ROUNDS))),
    ),
    Lie("a line that no rule reads", lambda forged: forged.append("stages/build.log", "all is well\n")),
)
