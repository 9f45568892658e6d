"""Step torch: torch, torchvision and torch-npu; CUDA stand-ins where torch is a CUDA build."""

from npu_assay.environment import cuda_standins
from npu_assay.environment.environment import Environment
from npu_assay.environment.steps.components import install_components
from npu_assay.environment.steps.step import Facts, Report, Step
from npu_assay.logged import last_line, run_logged


def _install(environment: Environment, report: Report) -> Facts:
    # torchvision: vllm-ascend 0.18.0 imports it on every start (its Qwen3.5 patch, through transformers).
    versions = install_components(environment, "torch", ("torch", "torchvision", "torch-npu"))
    libraries = cuda_standins.loaded_with_torch(environment.site_packages)
    wanted = cuda_standins.stand_ins(libraries)
    log = environment.root / "logs" / "torch.log"
    cuda_standins.build(
        wanted, environment.cuda_standins, compiler="cc", variables=environment.build_variables(), log=log
    )
    run_logged(
        [str(environment.python), "-c", "import torch, torchvision; print(torch.__version__)"],
        log,
        doing="step torch: importing torch",
        variables=environment.build_variables(),
        telling=last_line,
    )
    return {**versions, "cuda_standins": [library.soname for library in wanted]}


STEP = Step(name="torch", needs=("python",), run=_install)
