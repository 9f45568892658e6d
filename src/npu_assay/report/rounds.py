"""The rounds of KV cache offloading as a table: each value as the row has it, judged elsewhere."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from npu_assay.claims.offload import FILE
from npu_assay.errors import UsageError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.jsonlines import Row, read_rows

#: Rounds that are shown.
MOST = 200
_NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class OffloadRound:
    """A row of the file, as words."""

    line: int
    backend: str
    run: str
    prompt_tokens: str
    cold_cached_tokens: str
    external_cached_tokens: str
    reset_prefix_cache: str
    cold_seconds: str
    external_seconds: str
    tokens: str
    """How many tokens the cold run led to, and whether the other one led to the same."""


@dataclass(frozen=True)
class OffloadRounds:
    """The table."""

    rows: tuple[OffloadRound, ...]
    problem: str = ""
    """Why there are not more rows."""
    file: str = FILE


def offload_rounds(archive: Archive) -> OffloadRounds | None:
    """None where the run left no such file."""
    path = archive.root / FILE
    rows: list[OffloadRound] = []
    if not path.is_file():
        return None
    try:
        for row in islice(read_rows(path, FILE), MOST + 1):
            rows.append(_round(row))
    except UsageError as error:
        return OffloadRounds(tuple(rows), str(error))
    left_out = f"only the first {MOST} rounds are shown" if len(rows) > MOST else ""
    return OffloadRounds(tuple(rows[:MOST]), left_out)


def _round(row: Row) -> OffloadRound:
    values = row.values
    return OffloadRound(
        line=row.line,
        backend=_word(values, "backend"),
        run=_word(values, "run"),
        prompt_tokens=_word(values, "prompt_tokens"),
        cold_cached_tokens=_word(values, "cold_cached_tokens"),
        external_cached_tokens=_word(values, "external_cached_tokens"),
        reset_prefix_cache=_word(values, "reset_prefix_cache"),
        cold_seconds=_time(values, "cold_seconds"),
        external_seconds=_time(values, "external_seconds"),
        tokens=_tokens(values.get("cold_token_ids"), values.get("external_token_ids")),
    )


def _word(values: Mapping[str, Any], key: str) -> str:
    match values.get(key):
        case None:
            return _NOT_MEASURED if key in values else "missing"
        case bool(value):
            return "yes" if value else "no"
        case str(value):
            return value
        case value:
            return json.dumps(value)


def _time(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:.3f} s"
    return _word(values, key)


def _tokens(cold: object, external: object) -> str:
    if not (isinstance(cold, list) and isinstance(external, list)):
        return "missing"
    if cold == external:
        return f"{len(cold)} identical" if cold else "none"
    same = next((at for at, pair in enumerate(zip(cold, external, strict=False)) if pair[0] != pair[1]), None)
    where = "one is longer" if same is None else f"from token {same + 1} on"
    return f"differ, {where}"
