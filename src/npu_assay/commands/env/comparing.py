"""`npu-assay env diff`: two environments side by side."""

from typing import cast, get_args

import click

from npu_assay.commands.device_option import device_option, kind_to_show
from npu_assay.environment.difference import Change, LockDifference, Side, difference
from npu_assay.environment.lock import Kind, load_lock
from npu_assay.environment.variant import Variant
from npu_assay.errors import UsageError


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@device_option(help_="Of a name without :hardware or :emulated; auto: the NPU's where there is an NPU.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON (src/npu_assay/schemas/env-diff.schema.json)."
)
def diff(a: str, b: str, wanted: str, as_json: bool) -> None:
    """What differs between two environments.

    A and B are NAME, NAME:hardware or NAME:emulated. Compared is what is installed: versions, builds, sources
    and hashes, not the locks' words. Exits 0 either way.
    """
    found = difference(_variant(a, wanted), _variant(b, wanted))
    click.echo(found.model_dump_json(indent=2) if as_json else "\n".join(_lines(found)))


def _variant(text: str, wanted: str) -> Variant:
    name, colon, kind = text.partition(":")
    if colon and kind not in get_args(Kind):
        raise UsageError(f"{text!r}: after the colon comes hardware or emulated, found {kind!r}")
    lock = load_lock(name)
    return Variant.of(lock, cast(Kind, kind) if colon else kind_to_show(lock, wanted))


def _lines(found: LockDifference) -> list[str]:
    if found.same:
        return [f"{_named(found.a)} and {_named(found.b)} install the same"]
    changes = (*found.components, *found.requirements)
    width = max(len(change.what) for change in changes)
    lines = [f"A  {_named(found.a)}", f"B  {_named(found.b)}"]
    for title, part in (("components", found.components), ("requirements", found.requirements)):
        lines += ["", f"{title}: {len(part) or 'no'} difference{'' if len(part) == 1 else 's'}"]
        for change in part:
            lines += _change(change, width)
    return lines


def _change(change: Change, width: int) -> list[str]:
    what = change.what.partition(".")[2] or change.what
    if change.a is None or change.b is None:
        side, value = ("B", change.b) if change.a is None else ("A", change.a)
        return [f"  {what:<{width}}  only {side}: {value}"]
    if len(change.a) + len(change.b) < 60:
        return [f"  {what:<{width}}  {change.a} -> {change.b}"]
    return [f"  {what:<{width}}  {change.a}", f"  {'':<{width}}  -> {change.b}"]


def _named(side: Side) -> str:
    return f"{side.name} ({side.kind})"
