"""Step vllm: vLLM for the empty target, from its source distribution (its wheels are for CUDA)."""

from npu_assay.environment.environment import Environment
from npu_assay.environment.steps.components import install_components
from npu_assay.environment.steps.step import Facts, Report, Step


def _install(environment: Environment, report: Report) -> Facts:
    # Without the override setuptools-scm names the version after the target: 0.18.0+empty. Build isolation
    # would fetch the torch that vLLM's pyproject.toml names. The Rust front end of later versions is
    # optional, and building it would fetch crates: a cargo that can't be found leaves it out.
    return install_components(
        environment,
        "vllm",
        ("vllm",),
        "--no-build-isolation",
        "--no-binary=vllm",
        extra={
            "VLLM_TARGET_DEVICE": "empty",
            "CARGO": "no-cargo",
            "VLLM_VERSION_OVERRIDE": environment.variant.component("vllm").version,
        },
    )


STEP = Step(name="vllm", needs=("torch",), run=_install)
