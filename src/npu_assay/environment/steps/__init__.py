"""The steps of an installation, in order: a change late in the list leaves what is before it alone."""

from dataclasses import replace

from npu_assay.environment.lock import Kind
from npu_assay.environment.steps import (
    adaptations,
    cann,
    lmcache,
    python,
    system,
    torch,
    triton,
    vllm,
    vllm_ascend,
)
from npu_assay.environment.steps.step import Step

#: The emulated CANN is built against the wheels, so its two steps come after them.
EMULATED: tuple[Step, ...] = (
    system.STEP,
    python.STEP,
    torch.STEP,
    triton.STEP,
    vllm.STEP,
    vllm_ascend.STEP,
    lmcache.STEP,
    replace(cann.CANN, needs=("torch", "vllm-ascend")),
    cann.NNAL,
    adaptations.STEP,
)

#: The host's CANN is there before everything that is compiled against it, or nothing is installed at all.
HARDWARE: tuple[Step, ...] = (
    system.STEP,
    replace(cann.CANN, always=True),
    cann.NNAL,
    python.STEP,
    torch.STEP,
    triton.STEP,
    vllm.STEP,
    replace(vllm_ascend.STEP, needs=(*vllm_ascend.STEP.needs, "nnal")),
    lmcache.STEP,
    adaptations.STEP,
)


def steps_of(kind: Kind) -> tuple[Step, ...]:
    """The steps of a variant of that kind."""
    return EMULATED if kind == "emulated" else HARDWARE
