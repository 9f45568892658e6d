"""Running one installer: its options and variables, its log, and what it says when it fails.

The options are those of cann-container-image's Dockerfiles. `--quiet` accepts the vendor's licence, and makes
the installer ask nothing; it has no standard input either.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from npu_assay.cann.run_packages.sources import Checked
from npu_assay.errors import UnusableError
from npu_assay.logged import last_line, run_logged

#: `[Toolkit] [20250912-21:52:11] [ERROR] There is no python3.7,...`: seen of CANN 8.0 to 8.2.
_ERROR = re.compile(r"^(?:\[[^\]\n]*\] ?)*\[ERROR\]:? *(?P<what>\S.*)$", re.MULTILINE)
#: `[Toolkit] [...] [INFO] LogFile:/var/log/ascend_seclog/ascend_toolkit_install.log`
_ITS_LOG = re.compile(r"LogFile: ?(?P<path>/\S+)")


def run_installer(
    checked: Checked, root: Path, log: Path, variables: Mapping[str, str], *, for_all: bool
) -> None:
    """Install one package below the root. Raises UnusableError with the installer's own words."""
    everybody = ("--install-for-all",) if for_all else ()
    try:
        run_logged(
            ["bash", str(checked.path), "--quiet", "--install", *everybody, f"--install-path={root}"],
            log,
            doing=checked.path.name,
            variables=variables,
            telling=first_complaint,
        )
    except UnusableError as error:
        theirs = _ITS_LOG.findall(log.read_text(errors="replace"))
        raise UnusableError(f"{error}{f', its own is {theirs[-1]}' if theirs else ''}") from error


def first_complaint(output: str) -> str:
    """The first line that the installer marks as an error, without its marks, else the last line."""
    found = _ERROR.search(output)
    return found["what"].strip() if found else last_line(output)
