"""Step vllm-ascend: its wheel, its sources, and the module that is rebuilt for the installed torch."""

from dataclasses import asdict

from npu_assay.environment import ascend_binding
from npu_assay.environment.ascend_build.locked import locked_sdist
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


STEP = Step(name="vllm-ascend", needs=("vllm",), run=_install)
