"""Step triton: triton-ascend, edited, and no other distribution that brings a `triton` package."""

from npu_assay.environment import triton_edit
from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import Installed, installed
from npu_assay.environment.steps.components import install_components
from npu_assay.environment.steps.step import Facts, Report, Step
from npu_assay.errors import UnusableError


def _install(environment: Environment, report: Report) -> Facts:
    versions = install_components(environment, "triton", ("triton-ascend",))
    require_only_triton(installed(environment.site_packages))
    edited = triton_edit.apply(environment.site_packages)
    return {**versions, "edited": edited, "files": {edit.path: edit.after for edit in triton_edit.EDITS}}


def require_only_triton(there: dict[str, Installed]) -> None:
    """Raises UnusableError when another distribution writes into the `triton` package of triton-ascend."""
    for name in ("triton", "pytorch-triton", "triton-nightly"):
        if other := there.get(name):
            raise UnusableError(
                f"{other.dist_info}: the distribution {name} {other.version} is beside triton-ascend, and"
                f" both own the package triton; take {name} out of the environment's requirements"
            )


STEP = Step(name="triton", needs=("torch",), run=_install)
