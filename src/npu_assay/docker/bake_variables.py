"""The bake file's variables, as the shell gives them."""

import re
from collections.abc import Mapping
from pathlib import Path

from npu_assay.docker.bake import BAKE_FILE
from npu_assay.errors import UsageError
from npu_assay.source.location import without_credentials

_SECRETS = ("PIP_CONF", "APT_SOURCES", "CA_CERTIFICATES")
#: Folders of the machine that builds, or addresses.
_FOLDERS = ("FETCHED", "RUN_PACKAGES", "VLLM_ASCEND", "PATCHES")
_VARIABLE = re.compile(r'^variable "(\w+)"', re.MULTILINE)


def given_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Those that are set, fit for a record: of secrets and of paths, that there was one."""
    return {
        name: "given" if _is_path(name, text) else without_credentials(text)
        for name in _VARIABLE.findall(BAKE_FILE.read_text())
        if (text := variables.get(name))
    }


def absolute_paths(variables: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The same variables for a bake that is started elsewhere: paths that were relative to `folder` are not.

    Raises UsageError for a file or a folder that is not there. What is an address, as BuildKit takes them for
    folders too, stays as it is.
    """
    found = dict(variables)
    for name in (*_SECRETS, *_FOLDERS):
        text = found.get(name, "")
        if not text or not _is_path(name, text):
            continue
        path, kind = folder / text, "file" if name in _SECRETS else "folder"
        if not (path.is_file() if kind == "file" else path.is_dir()):
            found_there = "which is none" if path.exists() else "which is not there"
            raise UsageError(f"{name} is {path}, {found_there}; expected a {kind}")
        found[name] = str(path)
    return found


def _is_path(name: str, text: str) -> bool:
    return name in _SECRETS or (name in _FOLDERS and not text.startswith("git+") and "://" not in text)
