"""Installing components at exactly the lock's version and hash."""

import platform
from collections.abc import Mapping

from npu_assay.environment.environment import Environment
from npu_assay.environment.installed import require_versions
from npu_assay.environment.obstacles import require_none
from npu_assay.environment.pip import pip_install


def install_components(
    environment: Environment,
    step: str,
    names: tuple[str, ...],
    *options: str,
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Install components from pip's index and check what is there then; name -> version.

    `options` and `extra` are pip's options and variables, as for pip_install.
    """
    for name in names:
        require_none(environment.variant, name)
    lines = [environment.variant.requirement(name, platform.machine()) for name in names]
    pip_install(environment, step, lines, *options, extra=extra)
    versions = {name: environment.variant.component(name).version for name in names}
    require_versions(environment.site_packages, versions)
    return versions
