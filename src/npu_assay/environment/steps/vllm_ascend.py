"""Step vllm-ascend: its wheel, and the module in it that the lock has rebuilt for the installed torch."""

from dataclasses import asdict

from npu_assay.environment import ascend_binding
from npu_assay.environment.environment import Environment
from npu_assay.environment.steps.components import install_components
from npu_assay.environment.steps.step import Facts, Report, Step


def _install(environment: Environment, report: Report) -> Facts:
    versions = install_components(environment, "vllm-ascend", ("vllm-ascend",))
    module = environment.variant.component("vllm-ascend").rebuilt
    if module is None:
        return versions
    return {**versions, "rebuilt": asdict(ascend_binding.rebuild(environment, module))}


STEP = Step(name="vllm-ascend", needs=("vllm",), run=_install)
