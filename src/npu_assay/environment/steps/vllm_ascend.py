"""Step vllm-ascend: its wheel, the module that the lock has rebuilt for the installed torch, its sources.

On hardware, where the lock has it from git or only as a source distribution, it is compiled with CANN's
compiler instead, and kept elsewhere in the cache: a run with a vllm-ascend of its own goes without.
"""

from dataclasses import asdict

from npu_assay.environment import ascend_binding
from npu_assay.environment.ascend_build.locked import locked_sdist
from npu_assay.environment.ascend_build.locked_build import build_locked, locked_build
from npu_assay.environment.environment import Environment
from npu_assay.environment.steps.components import install_components
from npu_assay.environment.steps.step import Facts, Report, Step


def _install(environment: Environment, report: Report) -> Facts:
    versions = install_components(environment, "vllm-ascend", ("vllm-ascend",))
    component = environment.variant.component("vllm-ascend")
    if "sdist" in component.sha256:
        locked_sdist(environment)  # so that a run needs no network
    module = component.rebuilt
    if module is None:
        return versions
    return {**versions, "rebuilt": asdict(ascend_binding.rebuild(environment, module))}


def _build(environment: Environment, report: Report) -> Facts:
    return {"build": str(build_locked(environment, report))}


def _is_built(environment: Environment) -> bool:
    return locked_build(environment) is not None


STEP = Step(name="vllm-ascend", needs=("vllm",), run=_install)
COMPILED = Step(name="vllm-ascend", needs=("vllm",), run=_build, done=_is_built)
