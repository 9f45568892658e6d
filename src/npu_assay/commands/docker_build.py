"""`npu-assay docker build` and `docker sizes`: an image, and what it is made of."""

import difflib
import os
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from npu_assay.docker.attesting import attest
from npu_assay.docker.bake import BAKE_FILE
from npu_assay.docker.bake_variables import absolute_paths, given_variables
from npu_assay.docker.building import Bake, build, builder_versions, planned
from npu_assay.docker.built import BaseImage, BuiltImage
from npu_assay.docker.client import ask
from npu_assay.docker.dockerfile import read_stages
from npu_assay.docker.identity import identify
from npu_assay.docker.sizes import ImageSizes, read_history, sizes_table
from npu_assay.docker.targets import ImageTarget, image_targets
from npu_assay.environment.lock import load_lock, lock_names
from npu_assay.errors import UsageError
from npu_assay.evidence.image import ImageDigest, ImageRecord
from npu_assay.evidence.provenance import project_record
from npu_assay.printable import printable
from npu_assay.project import ROOT
from npu_assay.strict import first_problem

_LOG = "build.log"
_BAKE = BAKE_FILE.relative_to(ROOT)


@click.command("build", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder for what is told of the image.  [default: images/TARGET]",
)
@click.argument("name", metavar="TARGET")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")
def build_command(name: str, out: Path | None, arguments: tuple[str, ...]) -> None:
    """Build an image of docker/docker-bake.hcl, and tell what it is made of.

    The bake file's variables are the shell's; ARGS go to `docker buildx bake` as they are, and `--` may stand
    before them. Leaves in DIR the image's digest, image.json, a bill of materials (CycloneDX), provenance
    (in-toto, SLSA), the size of each layer, and build.log. A build that fails ends with npu-assay's own last
    line from inside it, and with the exit code of that.
    """
    target = _target(name)
    arguments = arguments[1:] if arguments[:1] == ("--",) else arguments
    if "--print" in arguments:
        raise UsageError(f"--print builds nothing; type: docker buildx bake -f {_BAKE} --print {name}")
    bake = Bake(name, arguments, absolute_paths(os.environ, Path.cwd()))
    project, variables, builder = project_record(), given_variables(os.environ), builder_versions()
    plan = planned(bake)
    args = plan["args"]
    record = _record(args, target)
    folder = out or Path("images") / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: can't be made ({error.strerror}); choose another with --out") from error
    digest = build(bake, folder / _LOG, lambda line: click.echo(line, err=True))
    base = _base(record.base)
    built = BuiltImage(
        target=target,
        reference=plan["tags"][0],
        name=digest,
        digest=ImageDigest.read(digest),
        record=record,
        base=base,
        variables=variables,
        arguments=arguments,
        project=project,
        builder=builder,
    )
    sizes = _sizes(digest)
    attest(built, sizes, folder)
    click.echo(sizes_table(sizes))
    click.echo(f"image: {built.reference} {built.digest}")
    click.echo(f"told of it: {folder}")


@click.command("sizes")
@click.argument("image")
@click.option("--json", "as_json", is_flag=True, help="As JSON; its schema is published.")
def sizes_command(image: str, as_json: bool) -> None:
    """Show what each layer of IMAGE adds, by the stages of docker/Dockerfile."""
    sizes = _sizes(image)
    click.echo(sizes.model_dump_json(indent=2) if as_json else sizes_table(sizes))


def _target(name: str) -> ImageTarget:
    targets = {target.name: target for target in image_targets([load_lock(lock) for lock in lock_names()])}
    if name.startswith("machine-"):  # which has no lock to be told of
        raise UsageError(f"{name} is no image of an environment; type: docker buildx bake -f {_BAKE} {name}")
    if name not in targets:
        emulated = [one for one in targets if one.startswith(f"{name}-emulated-")]
        near = difflib.get_close_matches(name, emulated or targets, 1, 0)
        raise UsageError(f"no target {name!r} in {_BAKE}; did you mean {near[0]}?")
    return targets[name]


def _record(args: dict[str, Any], target: ImageTarget) -> ImageRecord:
    """What the image will say of itself. Raises UsageError for a variable that none can say."""
    names = {
        "kind": "IMAGE",
        "base": "CANN_IMAGE" if target.cann == "image" else "BASE",
        "revision": "REVISION",
    }
    kind, base, revision = (args[name] for name in names.values())
    try:
        return target.record(kind, base, revision or None)
    except ValidationError as error:
        name = names[str(error.errors()[0]["loc"][0])]
        why = first_problem(error).partition(": ")[2]
        raise UsageError(f"{name} is {printable(args[name])!r}: {why}") from error


def _base(reference: str) -> BaseImage:
    digest = identify(reference).digest
    return BaseImage(reference, None if digest is None else ImageDigest.read(digest))


def _sizes(image: str) -> ImageSizes:
    history = ask("history", "--human=false", "--no-trunc", "--format", "{{json .}}", image)
    return read_history(image, history.decode(errors="replace").splitlines(), read_stages())
