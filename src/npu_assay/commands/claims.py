"""`npu-assay claims`: published results, recomputed."""

import click

from npu_assay.claims.publications.files import load_publication, publication_names
from npu_assay.claims.publications.judgement import judge
from npu_assay.claims.publications.model import Publication
from npu_assay.claims.publications.report import Claim, ClaimsReport
from npu_assay.claims.publications.table import claims_table, figures_table, listing, names_table
from npu_assay.errors import AssayError, InconclusiveError

_NAMES = click.argument("names", nargs=-1, metavar="[NAME]...")


@click.group()
def claims() -> None:
    """Published results as data, and what of them can be recomputed.

    NAME is one of ci/claims, or a file.
    """


@claims.command("list")
@_NAMES
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON (src/npu_assay/schemas/claims-list.schema.json)."
)
def list_claims(names: tuple[str, ...], as_json: bool) -> None:
    """The publications; with NAME, every figure of these and where it stands."""
    found = listing(_loaded(names))
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        click.echo(figures_table(found) if names else names_table(found))


@claims.command()
@_NAMES
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON (src/npu_assay/schemas/claims-check.schema.json)."
)
def check(names: tuple[str, ...], as_json: bool) -> None:
    """Recompute every derived figure of the publications, all of them where none is named.

    Exits 1 when one is contradicted or put down to the wrong switches and its file does not know that, else 3
    when one compares what can't be compared.
    """
    report = ClaimsReport.of(tuple(judge(one) for one in _loaded(names)))
    click.echo(report.model_dump_json(indent=2) if as_json else claims_table(report))
    wrong = [claim for one in report.publications for claim in one.contradictions]
    refused = [claim for one in report.publications for claim in one.refused]
    if wrong:
        raise AssayError(f"{len(wrong)} contradicted, first: {_said(wrong[0])}")
    if refused:
        raise InconclusiveError(f"{len(refused)} refused, first: {_said(refused[0])}")


def _loaded(names: tuple[str, ...]) -> list[Publication]:
    """Those that are named, each once, or all; A first."""
    found = [load_publication(name) for name in dict.fromkeys(names or publication_names())]
    return sorted(found, key=lambda publication: publication.result)


def _said(claim: Claim) -> str:
    known = f", but known as {claim.known}" if claim.known else ""
    return f"{claim.claim}, published {claim.published}, {claim.verdict}{known}"
