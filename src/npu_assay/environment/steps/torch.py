"""Step torch: torch, torchvision and torch-npu; CUDA stand-ins where torch is a CUDA build."""

from npu_assay.environment import cuda_standins
from npu_assay.environment.environment import Environment
from npu_assay.environment.steps.components import install_components
from npu_assay.environment.steps.step import Facts, Report, Step
from npu_assay.logged import last_line, run_logged


def _install(environment: Environment, report: Report) -> Facts:
    # torchvision: vllm-ascend 0.18.0 imports it on every start (its Qwen3.5 patch, through transformers).
    versions = install_components(environment, "torch", ("torch", "torchvision", "torch-npu"))
    log = environment.root / "logs" / "torch.log"
    made = cuda_standins.build_for_torch(environment, log)
    run_logged(
        [str(environment.python), "-c", "import torch, torchvision; print(torch.__version__)"],
        log,
        doing="step torch: importing torch",
        variables=environment.build_variables(),
        telling=last_line,
    )
    return {**versions, "cuda_standins": made}


STEP = Step(name="torch", needs=("python",), run=_install)
