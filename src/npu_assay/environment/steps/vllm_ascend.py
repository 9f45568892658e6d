"""Step vllm-ascend: its wheel, which is built for exactly the lock's torch and torch-npu."""

from npu_assay.environment.environment import Environment
from npu_assay.environment.steps.components import install_components
from npu_assay.environment.steps.step import Facts, Report, Step


def _install(environment: Environment, report: Report) -> Facts:
    return install_components(environment, "vllm-ascend", ("vllm-ascend",))


STEP = Step(name="vllm-ascend", needs=("vllm",), run=_install)
