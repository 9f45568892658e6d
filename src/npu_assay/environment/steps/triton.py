"""Step triton: triton-ascend without set_device_limit, and no other distribution of a `triton` package."""

from npu_assay.environment import triton_edit
from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import Installed, installed
from npu_assay.environment.steps.components import install_components
from npu_assay.environment.steps.step import Facts, Report, Step
from npu_assay.environment.tritons import OTHERS, is_edited_here, must_be_without_limit
from npu_assay.errors import UnusableError


def _install(environment: Environment, report: Report) -> Facts:
    versions = install_components(environment, "triton", ("triton-ascend",))
    require_only_triton(installed(environment.site_packages))
    version = versions["triton-ascend"]
    if is_edited_here(version):
        edited = triton_edit.apply(environment.site_packages)
        return {**versions, "edited": edited, "files": {edit.path: edit.after for edit in triton_edit.EDITS}}
    if must_be_without_limit(version) and (
        left := triton_edit.left_overs(environment.site_packages / "triton")
    ):
        raise UnusableError(
            f"triton-ascend {version} still has set_device_limit, in {', '.join(left)}; releases after"
            f" {triton_edit.VERSION} carry its removal, so this is another file than the lock means"
        )
    return {**versions, "edited": False}


def require_only_triton(there: dict[str, Installed]) -> None:
    """Raises UnusableError when another distribution writes into the `triton` package of triton-ascend."""
    for name in OTHERS:
        if other := there.get(name):
            raise UnusableError(
                f"{other.dist_info}: the distribution {name} {other.version} is beside triton-ascend, and"
                f" both own the package triton; take {name} out of the environment's requirements"
            )


STEP = Step(name="triton", needs=("torch",), run=_install)
