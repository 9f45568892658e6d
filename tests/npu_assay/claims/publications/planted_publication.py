"""Publications of ci/claims with something changed in them, and what is said of one claim."""

import tomllib
from decimal import Decimal
from typing import Any

from npu_assay.claims.publications.judgement import judge
from npu_assay.claims.publications.model import Publication
from npu_assay.claims.publications.report import Claim
from npu_assay.project import CLAIMS


def planted(name: str, changes: dict[str, Any] | None = None) -> Publication:
    """The real publication; `changes` are values by the path of their key. None takes the key away."""
    content = tomllib.loads((CLAIMS / f"{name}.toml").read_text(), parse_float=Decimal)
    for path, value in (changes or {}).items():
        *tables, key = path.split("/")
        table: Any = content
        for one in tables:
            table = table[int(one)] if isinstance(table, list) else table[one]
        if value is None:
            del table[key]
        else:
            table[key] = value
    return Publication.model_validate(content)


def claims_of(publication: Publication, claim: str, by: str) -> list[Claim]:
    return [one for one in judge(publication).claims if (one.claim, one.by) == (claim, by)]


def claim_of(publication: Publication, claim: str, by: str) -> Claim:
    """The only claim of that figure by that way."""
    (found,) = claims_of(publication, claim, by)
    return found
