"""Steps cann and nnal: the variant's provider builds them, or finds and judges those of the host."""

from npu_assay.cann.versions import is_build
from npu_assay.environment.environment import Environment
from npu_assay.environment.steps.step import Facts, Report, Step
from npu_assay.errors import UnusableError


def _provide_cann(environment: Environment, report: Report) -> Facts:
    tree = environment.provider.provide(environment.target, report)
    found, expected = tree.innerversion(), environment.variant.component("cann").build
    if expected is not None and not is_build(found, expected):
        raise UnusableError(f"{tree.install_info}: innerversion is {found}, the lock says {expected}")
    return {"root": str(tree.root), "innerversion": found}


def _has_cann(environment: Environment) -> bool:
    return environment.provider.ready(environment.target)


def _check_nnal(environment: Environment, report: Report) -> Facts:
    # Every provider finds NNAL with CANN, and the host's judges both at once.
    script = environment.cann.atb_script
    if not script.is_file():
        raise UnusableError(f"{script}: not there; the CANN of {environment.name} came without NNAL")
    return {"atb": str(script)}


def _has_nnal(environment: Environment) -> bool:
    return _has_cann(environment) and environment.cann.atb_script.is_file()


CANN = Step(name="cann", needs=("system",), run=_provide_cann, done=_has_cann)
NNAL = Step(name="nnal", needs=("cann",), run=_check_nnal, done=_has_nnal)
