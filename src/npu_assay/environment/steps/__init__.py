"""The steps of an installation, in order: a change late in the list leaves what is before it alone."""

from dataclasses import replace

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
from npu_assay.environment.variant import Variant

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

#: As before, with vllm-ascend compiled: after what makes the venv, so that a failing compiler costs none.
COMPILING: tuple[Step, ...] = (
    *(step for step in HARDWARE if step.name not in ("vllm-ascend", "adaptations")),
    replace(vllm_ascend.COMPILED, needs=(*vllm_ascend.COMPILED.needs, "nnal")),
    adaptations.STEP,
)


def steps_of(variant: Variant) -> tuple[Step, ...]:
    """The steps of a variant."""
    if variant.kind == "emulated":
        return EMULATED
    return COMPILING if variant.compiles("vllm-ascend") else HARDWARE


def steps_of_a_run(variant: Variant) -> tuple[Step, ...]:
    """Those without compiling vllm-ascend: a run builds the one that it proves in its stage `build`."""
    return tuple(step for step in steps_of(variant) if step.run is not vllm_ascend.COMPILED.run)


def steps_of_a_build(variant: Variant) -> tuple[Step, ...]:
    """Those of a run without what building a vllm-ascend has no use for: the plug-in, an emulated CANN."""
    unneeded = [adaptations.STEP.name]
    if variant.kind == "emulated":
        unneeded += [cann.CANN.name, cann.NNAL.name]
    return tuple(step for step in steps_of_a_run(variant) if step.name not in unneeded)
