"""Steps cann and nnal: the lock's provider puts them there."""

from npu_assay.environment.environment import Environment
from npu_assay.environment.steps.step import Facts, Report, Step
from npu_assay.errors import UnusableError


def _provide_cann(environment: Environment, report: Report) -> Facts:
    tree = environment.provider.provide(environment.target, report)
    found, expected = tree.innerversion(), environment.variant.component("cann").build
    if expected is not None and found != expected:
        raise UnusableError(f"{tree.install_info}: innerversion is {found}, the lock says {expected}")
    return {"root": str(tree.root), "innerversion": found}


def _has_cann(environment: Environment) -> bool:
    return environment.provider.ready(environment.target)


def _check_nnal(environment: Environment, report: Report) -> Facts:
    # Every provider there is brings NNAL in the same tree as CANN.
    script = environment.cann.atb_script
    if not script.is_file():
        raise UnusableError(f"{script}: not there; the CANN of {environment.name} came without NNAL")
    return {"atb": str(script)}


def _has_nnal(environment: Environment) -> bool:
    return environment.cann.atb_script.is_file()


# The emulated provider is built against the wheels, so in today's order these two come after them.
CANN = Step(name="cann", needs=("torch", "vllm-ascend"), run=_provide_cann, done=_has_cann)
NNAL = Step(name="nnal", needs=("cann",), run=_check_nnal, done=_has_nnal)
