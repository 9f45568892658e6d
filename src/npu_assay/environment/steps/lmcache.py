"""Step lmcache: LMCache, where the lock has it."""

from npu_assay.environment.environment import Environment
from npu_assay.environment.steps.components import install_components
from npu_assay.environment.steps.step import Facts, Report, Step


def _install(environment: Environment, report: Report) -> Facts:
    if "lmcache" not in environment.variant.components:
        return {}
    # Where it is built here, it is without its CUDA extensions: LMCache then takes its Python equivalents.
    return install_components(
        environment, "lmcache", ("lmcache",), "--no-build-isolation", extra={"NO_CUDA_EXT": "1"}
    )


STEP = Step(name="lmcache", needs=("torch",), run=_install)
