"""Lies that nothing in an archive contradicts, once it is sealed again: docs/evidence.md lists them by these names.

Each is tried too. As it is, its checksum betrays it; sealed again, it passes, and only a signature of whoever ran
it could tell. When a rule learns to see one, the test fails, and the lie moves to its family.
"""

from dataclasses import dataclass

from collections.abc import Callable

from mutations.families.environment import OTHER_SHA256
from mutations.forged import Forged, Json

ROUNDS = "results/kv-offload.jsonl"


@dataclass(frozen=True)
class Lie:
    """One of them."""

    name: str
    """As in the documentation's table."""
    change: Callable[[Forged], object]


def _host(manifest: Json) -> None:
    manifest["host"].update(kernel="6.6.0", cpus=192, memory_bytes=2 << 40)


def _commit(manifest: Json) -> None:
    manifest["project"].update(commit="f" * 40, dirty=False)


def _same_in_both(forged: Forged) -> None:
    """Another answer, cold and from the host alike."""
    rows = forged.rows(ROUNDS)
    rows[1]["cold_token_ids"][0] += 1
    rows[1]["external_token_ids"] = rows[1]["cold_token_ids"]
    forged.write_rows(ROUNDS, rows)


def _faster(forged: Forged) -> None:
    rows = forged.rows(ROUNDS)
    for row in rows:
        row["external_seconds"] /= 2
    forged.write_rows(ROUNDS, rows)


LIES = (
    Lie("another machine", lambda forged: forged.edit_manifest(_host)),
    Lie("another commit of npu-assay", lambda forged: forged.edit_manifest(_commit)),
    Lie("faster rounds", _faster),
    Lie("other tokens in both answers", _same_in_both),
    Lie("another prompt", lambda forged: forged.edit_row(ROUNDS, 1, prompt_sha256=OTHER_SHA256)),
    Lie("a line that no rule reads", lambda forged: forged.append("stages/build.log", "all is well\n")),
)
