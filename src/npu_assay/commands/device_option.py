"""The option --device of commands that need a kind of device, or an environment for one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import click

from npu_assay.device.kind import Wanted
from npu_assay.device.nodes import read_nodes
from npu_assay.environment.lock import Kind, Lock

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


#: The word where the option is not given: an image has what it was built for.
VARIABLE = "NPU_ASSAY_DEVICE"


def device_option(parameter: str = "wanted", help_: str = "auto: the NPU where there is one.") -> _Decorator:
    """The option --device auto|npu|emulated; the command gets the word that was given as `parameter`."""
    return click.option(
        "--device",
        parameter,
        type=click.Choice(["auto", "npu", "emulated"]),
        default="auto",
        envvar=VARIABLE,
        show_default=True,
        help=help_,
    )


def variant_kind(wanted: str, dev: Path = Path("/dev")) -> Kind:
    """Which variant of a lock that word means here: auto is the NPU where the driver shows one.

    `npu` needs no NPU: environments for hardware are made on machines without one, too.
    """
    word = cast(Wanted, wanted)
    if word == "auto":
        return "hardware" if read_nodes(dev).dies else "emulated"
    return "hardware" if word == "npu" else "emulated"


def kind_to_show(lock: Lock, wanted: str) -> Kind:
    """As variant_kind, for what only looks at a lock: auto is the variant that the lock has."""
    return "hardware" if wanted == "auto" and lock.content.hardware_only else variant_kind(wanted)
