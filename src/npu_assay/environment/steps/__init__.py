"""The steps of an installation, in order: a change late in the list leaves what is before it alone."""

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

ORDER: tuple[Step, ...] = (
    system.STEP,
    python.STEP,
    torch.STEP,
    triton.STEP,
    vllm.STEP,
    vllm_ascend.STEP,
    lmcache.STEP,
    cann.CANN,
    cann.NNAL,
    adaptations.STEP,
)
