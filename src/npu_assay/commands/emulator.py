"""`npu-assay emulator`: the emulated CANN."""

import click


@click.group()
def emulator() -> None:
    """Build and describe the emulated CANN."""
