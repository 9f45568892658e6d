"""results/kv-offload.jsonl: the rounds of KV cache offloading.

In a round a prompt runs cold, the local prefix cache is dropped, and the same prompt runs again: its KV
blocks must come back from the host (external) and lead to the same tokens.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from npu_assay.claims.case import Case
from npu_assay.claims.findings import Evidence
from npu_assay.strict import first_problem

STAGE = "native-high-level"
FILE = "results/kv-offload.jsonl"

#: The largest vocabularies have some 260,000 tokens (Gemma 3).
TokenId = Annotated[int, Field(ge=0, lt=1 << 24)]
Count = Annotated[int, Field(ge=0)]


class Round(BaseModel):
    """The fields of a row that are judged. None is "not measured", which is not 0."""

    model_config = ConfigDict(strict=True, extra="ignore")

    backend: str
    run: int
    device_kind: str
    tensor_parallel_size: int
    prompt_tokens: int
    prompt_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    cold_cached_tokens: Count | None
    reset_prefix_cache: bool | None
    external_cached_tokens: Count | None
    cold_token_ids: list[TokenId]
    external_token_ids: list[TokenId]
    cold_seconds: float
    external_seconds: float
    stored_tokens: Count | None
    retrieved_tokens: Count | None


@dataclass(frozen=True)
class Row:
    """A row as a round, or what keeps it from being one."""

    place: Evidence
    round: Round | None
    problem: str = ""


def read_rounds(case: Case) -> Iterator[Row]:
    """Every row of the file. Raises UsageError for what is no JSON Lines."""
    for row in case.rows(FILE):
        place = Evidence(FILE, row.line)
        try:
            yield Row(place, Round.model_validate(row.values))
        except ValidationError as error:
            yield Row(place, None, first_problem(error))
