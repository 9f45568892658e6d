"""--vllm-ascend and --patch, which several commands take."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from npu_assay.commands.soc_option import soc_option
from npu_assay.source.location import FORMS

#: What an image has of its own stands in these.
SOURCE_VARIABLE, PATCH_VARIABLE = "NPU_ASSAY_VLLM_ASCEND", "NPU_ASSAY_PATCH"


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The two options, as `source` and `patches`; and the chip to compile for, which is no value.

    Without either, two variables stand for them; one that is given takes the place of both variables.
    """

    @wraps(command)
    def without_variables(source: str | None, patches: tuple[Path, ...], **others: Any) -> Any:
        if source_options_given():
            source = source if _is_given("source") else None
            patches = patches if _is_given("patches") else ()
        return command(source=source, patches=patches, **others)

    patch = click.option(
        "--patch",
        "patches",
        multiple=True,
        type=click.Path(path_type=Path),
        envvar=PATCH_VARIABLE,
        metavar="FILE|DIR",
        help="Apply a patch, or those of a folder (its `series`, else by name); repeatable, in order."
        f"  [default: {PATCH_VARIABLE}'s, with colons between]",
    )
    option = click.option(
        "--vllm-ascend",
        "source",
        envvar=SOURCE_VARIABLE,
        metavar="SOURCE",
        help=f"{FORMS[0].upper()}{FORMS[1:]}.  [default: {SOURCE_VARIABLE}, else the lock's own]",
    )
    return option(patch(soc_option(without_variables)))


def source_options_given() -> bool:
    """Whether the command that runs was given one of the two, and not a variable alone."""
    return _is_given("source") or _is_given("patches")


def _is_given(name: str) -> bool:
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE
