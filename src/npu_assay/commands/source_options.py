"""--vllm-ascend and --patch, which several commands take."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from npu_assay.commands.soc_option import soc_option
from npu_assay.source.location import FORMS


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The two options, as `source` and `patches`; and the chip to compile for, which is no value."""
    patch = click.option(
        "--patch",
        "patches",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE|DIR",
        help="Apply a patch, or those of a folder (its `series`, else by name); repeatable, in order.",
    )
    source = click.option(
        "--vllm-ascend",
        "source",
        metavar="SOURCE",
        help=f"{FORMS[0].upper()}{FORMS[1:]}.  [default: the lock's own]",
    )
    return source(patch(soc_option(command)))
