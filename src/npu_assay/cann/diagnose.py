"""What is right and wrong with the CANN that is installed here, for `doctor`: every finding, not the first.

Everything is an argument: root, variables, what is expected. Nothing is started but the two environment
scripts, to see what they read under `set -u`, and those not for long.
"""

from collections.abc import Mapping
from pathlib import Path

from npu_assay.cann.agreement import Expected
from npu_assay.cann.checks.identity import check_files, check_identity, check_place
from npu_assay.cann.checks.look import Look
from npu_assay.cann.checks.runtime import (
    check_abi,
    check_driver_status,
    check_hal,
    check_scripts,
    check_unfinished,
)
from npu_assay.cann.checks.selection import check_builds, check_links, check_selection, check_toolkit
from npu_assay.cann.discovery import Places, find_installed
from npu_assay.diagnosis import Diagnosis


def diagnose(
    places: Places,
    variables: Mapping[str, str],
    expected: Expected | None = None,
    site_packages: Path | None = None,
) -> list[Diagnosis]:
    """Look at the CANN of a machine, as a process with these variables would find it.

    `site_packages` is where the torch is that loads this CANN: its C++ ABI decides which of ATB's libraries
    fit.
    """
    installed = find_installed(places, variables)
    return judge(Look(places, variables, expected or Expected(), site_packages, installed))


def judge(look: Look) -> list[Diagnosis]:
    """All that the checks say about what was found."""
    found = [*check_links(look), *check_files(look), *check_toolkit(look)]
    toolkit = look.installed.toolkit
    if toolkit is not None and toolkit.value is not None:
        info = toolkit.value
        found += check_selection(look, toolkit)
        found += check_builds(look, toolkit)
        found += check_place(look, toolkit, info)
        found += check_identity(look, toolkit, info)
        found += check_unfinished(look, toolkit)
        found += check_scripts(look, toolkit, info)
        found += check_abi(look, info)
    return [*found, *check_hal(look), *check_driver_status(look)]
