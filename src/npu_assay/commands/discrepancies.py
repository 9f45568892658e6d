"""What is not as SHA256SUMS says, on the terminal."""

from collections.abc import Collection

import click

from npu_assay.errors import AssayError
from npu_assay.wording import counted


def require_none(discrepancies: Collection[object], where: str, sums: str) -> None:
    """Print each one. Raises AssayError that says how many there are."""
    for discrepancy in discrepancies:
        click.echo(discrepancy)
    if discrepancies:
        raise AssayError(f"{where}: {counted(len(discrepancies), 'difference')} from {sums}")
