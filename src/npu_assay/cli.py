"""The commands. No logic: each one turns options into a call of one room, and errors into exit codes."""

import sys

import click

from npu_assay import __version__
from npu_assay.errors import AssayError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="npu-assay")
def cli() -> None:
    """Build, test and prove a patched vLLM-Ascend."""


def main() -> None:
    """Run the command line; an AssayError ends it with one line and its exit code."""
    try:
        cli()
    except AssayError as error:
        click.echo(f"npu-assay: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
