"""`npu-assay build`: a vllm-ascend of one's own, ready to be imported."""

import json
from pathlib import Path

import click

from npu_assay.cache import cache_root, facts_of
from npu_assay.commands.device_option import device_option, variant_kind
from npu_assay.commands.progress import EchoProgress
from npu_assay.commands.source_options import source_options, source_options_given
from npu_assay.environment.ascend_build.build import build as make_build
from npu_assay.environment.ascend_build.build import logs_of, native_differences
from npu_assay.environment.ascend_build.request import (
    RunSource,
    named_tree,
    of_the_lock,
    read_request,
    run_source,
)
from npu_assay.environment.environment import Environment
from npu_assay.environment.install import install
from npu_assay.environment.lock import DEFAULT_ENVIRONMENT, load_lock
from npu_assay.environment.steps import steps_of_a_build
from npu_assay.errors import InconclusiveError, UsageError
from npu_assay.printable import printable
from npu_assay.source.archived import ArchivedSource, read_listing, read_record
from npu_assay.source.export import export_to
from npu_assay.source.location import parse_location
from npu_assay.source.tree import find_tree
from npu_assay.wording import some

_NAMES_SHOWN = 3


@click.command()
@click.option("--environment", "lock_name", default=DEFAULT_ENVIRONMENT, show_default=True, metavar="NAME")
@device_option(help_="auto: the NPU where there is one, else an emulated one.")
@source_options
@click.option(
    "--archive",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Build what the archive of a run names, as its stage `build` does.",
)
@click.option(
    "--export",
    "exported",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Build nothing: put SOURCE, a folder or from git, into DIR, a new folder that is a SOURCE itself.",
)
def build(
    lock_name: str,
    wanted: str,
    source: str | None,
    patches: tuple[Path, ...],
    archive: Path | None,
    exported: Path | None,
) -> None:
    """Build a vllm-ascend of one's own for an environment.

    It is kept in the cache, for `run` with the same options. The folder that is printed last is one for
    PYTHONPATH. Exit codes: 0 built, 1 it does not build, 2 bad input, 3 the emulator can't run what it
    changes, 4 the environment can't be used.
    """
    progress = EchoProgress()
    if archive is not None and (source_options_given() or exported):
        raise UsageError("--archive names what to build; leave out --vllm-ascend, --patch and --export")
    if exported is not None:
        _export(source, patches, exported, progress)
        return
    request = read_request(*(None, ()) if archive is not None else (source, patches))
    kind = variant_kind(wanted)
    environment = Environment.of(load_lock(lock_name), kind)
    if archive is not None:
        where = ArchivedSource(archive / "source")
        _build_archived(_archived(environment, where), where)
        return
    tree = named_tree(request, environment, progress.note)
    install(environment, progress, steps_of_a_build(environment.variant))
    _build(run_source(request, tree, environment, progress.note))


def _export(source: str | None, patches: tuple[Path, ...], folder: Path, progress: EchoProgress) -> None:
    if source is None or patches:
        raise UsageError("--export takes --vllm-ascend SOURCE and no --patch: it goes on what is left there")
    origin = export_to(parse_location(source), folder, cache_root(), progress.note)
    commit = "" if origin.commit is None else f", commit {origin.commit}{' and changes' * bool(origin.dirty)}"
    click.echo(f"vllm-ascend: {printable(origin.given)}{commit}")
    for note in origin.notes:
        click.echo(f"note: {printable(note)}")
    click.echo(str(folder))


def _build_archived(source: RunSource, where: ArchivedSource) -> None:
    """Build with all that the compilers said in this stage's log, and the facts in the archive."""
    if source.environment.tree is None or source.environment.variant.kind == "emulated":
        _build(source)
        return
    try:
        _build(source)
    finally:
        for log in logs_of(source.environment):
            click.echo(f"--- {log}")
            click.echo(log.read_bytes(), nl=False)
    where.build.write_text(json.dumps(facts_of(source.environment.build_folder), indent=2) + "\n")


def _archived(environment: Environment, where: ArchivedSource) -> RunSource:
    record = read_record(where)
    tree = find_tree(record, environment.cache)
    if record.is_locks:
        return of_the_lock(environment, tree)
    base = read_listing(where.base) if where.base.exists() else None
    own = Environment.of(environment.lock, environment.variant.kind, cache_root(), tree=tree)
    return RunSource(own, tree, (), base)


def _build(source: RunSource) -> None:
    """Build, and say what it is. Raises InconclusiveError where native parts are not what runs."""
    record = source.tree.record
    click.echo(record.summary)
    click.echo(f"tree: {record.files} files, sha256 {record.tree_sha256}")
    for note in record.notes:
        click.echo(f"note: {note}")
    if source.environment.tree is None:
        click.echo("nothing to build: the environment's own package is the one that is imported")
        click.echo(str(source.environment.site_packages))
        return
    folder = make_build(source.environment, lambda line: click.echo(line, err=True))
    click.echo(str(folder / "site"))
    if source.base is not None:
        require_same_native(native_differences(source.tree, source.base))


def require_same_native(different: list[str]) -> None:
    """Raises InconclusiveError that names native files which differ from the lock's own."""
    if not different:
        return
    shown = some([printable(name) for name in different], _NAMES_SHOWN)
    raise InconclusiveError(
        f"native parts differ from the lock's own: {shown}; the emulator runs the compiled parts of the"
        " pinned wheel, so what is changed there was not tried: run on an NPU"
    )
