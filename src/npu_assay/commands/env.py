"""`npu-assay env`: environments, from their locks."""

import click


@click.group()
def env() -> None:
    """List, show and install environments."""
