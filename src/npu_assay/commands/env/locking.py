"""`npu-assay env lock`: the hashes of a lock that nobody has published."""

from pathlib import Path

import click

from npu_assay.environment.lock import UNVERIFIED, load_lock
from npu_assay.environment.recording import record as record_files
from npu_assay.environment.recording import record_image, slots
from npu_assay.errors import UsageError


@click.command()
@click.argument("name")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@click.option("--record", is_flag=True, help="Write the sha256 of each FILE into the lock.")
@click.option(
    "--image",
    metavar="TAG@DIGEST",
    help="Write the vendor's image into the lock, with the digest that you trust.",
)
@click.option("--force", is_flag=True, help="Even where the lock has another.")
def lock(name: str, files: tuple[Path, ...], record: bool, image: str | None, force: bool) -> None:
    """Show the hashes that a lock lacks, or record them.

    FILE is a downloaded artefact (.run, .whl, .tar.gz) under the name that it was published with. Record only
    what you trust: from then on nothing else passes for it.
    """
    if files and not record:
        raise UsageError(
            f"to write the hashes into the lock, type: npu-assay env lock {name} --record FILE..."
        )
    if record and not files:
        raise UsageError("--record needs at least one FILE")
    read = load_lock(name)
    if image is not None:
        click.echo(f"components.cann.image = {record_image(read, image, force=force)}")
        read = load_lock(name)
    for one in record_files(read, files, force=force):
        click.echo(f"{one.slot.where} = {one.sha256}{'' if one.changed else '  (was recorded already)'}")
    left = [slot for slot in slots(load_lock(name)) if slot.sha256 == UNVERIFIED]
    for slot in left:
        click.echo(f"{slot.where} is unverified: {slot.expects}")
    if not left:
        click.echo(f"{name}: every hash is recorded")
