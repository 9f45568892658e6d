"""The option --soc-version, which stands for the variable SOC_VERSION."""

import os
from collections.abc import Callable
from typing import Any

import click

from npu_assay.environment.ascend_build.hardware import SOC_VARIABLE


def soc_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option; what it says reaches the stages of a run as the variable does."""
    return click.option(
        "--soc-version",
        metavar="NAME",
        expose_value=False,
        callback=_set_variable,
        help="The chip to compile vllm-ascend for, as in SOC_VERSION.  [default: the NPU's own]",
    )(command)


def _set_variable(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        os.environ[SOC_VARIABLE] = value
