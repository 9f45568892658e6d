"""`npu-assay env fetch`: everything that an installation needs, into one folder."""

import platform
from pathlib import Path
from typing import get_args

import click

from npu_assay.commands.device_option import device_option, kind_to_show
from npu_assay.environment.fetch import fetch as fetch_into
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, UNVERIFIED, Architecture, load_lock
from npu_assay.environment.variant import Variant
from npu_assay.errors import UnusableError


@click.command()
@click.argument("name", default=DEFAULT_ENVIRONMENT)
@click.option("--to", "folder", type=click.Path(path_type=Path), required=True, metavar="DIR")
@device_option(help_="The variant to fetch; auto: the NPU's where there is an NPU, else the emulator's.")
@click.option(
    "--architecture",
    type=click.Choice(get_args(Architecture)),
    default=platform.machine(),
    show_default="this machine's",
    help="Of the machine that will install.",
)
def fetch(name: str, folder: Path, wanted: str, architecture: str) -> None:
    """Gather every file of an environment in DIR.

    For `env install --from DIR` on a machine without network.
    What is there already stays; fetched.json lists every file with its sha256. Exits 4 while something is
    missing that no index has.
    """
    lock = load_lock(name)
    variant = Variant.of(lock, kind_to_show(lock, wanted))
    gathered = fetch_into(variant, folder.absolute(), architecture, lambda line: click.echo(line, err=True))
    size = sum(file.size for file in gathered.files) >> 20
    click.echo(
        f"{folder}: {len(gathered.files)} files, {size} MiB, {gathered.downloaded} of them fetched now"
    )
    for item in gathered.by_hand:
        click.echo(f"to be put there by hand: {item.component}: {item.what}, {_hash_of(item.sha256)}")
    if gathered.by_hand:
        unverified = any(item.sha256 == UNVERIFIED for item in gathered.by_hand)
        record = f"; record a hash: npu-assay env lock {name} --record FILE" if unverified else ""
        raise UnusableError(
            f"{folder}: not everything of {name} is there; put {len(gathered.by_hand)} of it there by hand"
            f"{record}"
        )


def _hash_of(sha256: str | None) -> str:
    return "which is built from that commit" if sha256 is None else f"sha256 {sha256}"
