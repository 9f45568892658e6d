"""`npu-assay env export`: an environment for other tools."""

import errno
import platform
from pathlib import Path
from typing import get_args

import click

from npu_assay.commands.device_option import device_option, kind_to_show
from npu_assay.environment.export import constraints, requirements
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, Architecture, load_lock
from npu_assay.environment.variant import Variant
from npu_assay.errors import UsageError
from npu_assay.evidence.atomic import write_atomically


@click.command()
@click.argument("name", default=DEFAULT_ENVIRONMENT)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["constraints", "requirements", "cyclonedx"]),
    default="constraints",
    show_default=True,
    help="pip's constraints; pip's requirements with hashes; an SBOM, CycloneDX 1.6 in JSON.",
)
@device_option(help_="The variant to export; auto: the NPU's where there is an NPU, else the emulator's.")
@click.option(
    "--architecture",
    type=click.Choice(get_args(Architecture)),
    default=platform.machine(),
    show_default="this machine's",
    help="Whose files the hashes are of.",
)
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Instead of standard output.")
def export(name: str, format_: str, wanted: str, architecture: str, output: Path | None) -> None:
    """Write an environment in a form that other tools read.

    The same lock gives the same bytes.
    """
    lock = load_lock(name)
    variant = Variant.of(lock, kind_to_show(lock, wanted))
    text = _text(variant, format_, architecture)
    if output is None:
        click.echo(text, nl=False)
    else:
        _write(output, text.encode())


def _write(output: Path, data: bytes) -> None:
    """Whole or not at all; a device, a pipe or a link is written to where it leads."""
    try:
        if output.exists() and (output.is_symlink() or not output.is_file()):
            output.write_bytes(data)
        else:
            write_atomically(output, data)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise UsageError(
            f"can't write {output}: {error.strerror}; name a file, in a folder that is there"
        ) from error


def _text(variant: Variant, format_: str, architecture: str) -> str:
    if format_ == "constraints":
        return constraints(variant)
    if format_ == "requirements":
        return requirements(variant, architecture)
    from npu_assay.environment.sbom import sbom  # a library that takes half a second to import

    return sbom(variant, architecture)
