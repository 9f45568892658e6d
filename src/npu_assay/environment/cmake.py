"""The CMake that builds the emulator, and a vllm-ascend on hardware."""

import re
import subprocess

from npu_assay.errors import UnusableError

CMAKE_AT_LEAST = (3, 22)


def cmake_version() -> str:
    """The version of CMake on PATH. Raises UnusableError when it is too old for a build."""
    said = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"cmake version ((\d+)\.(\d+)\S*)", said)
    if found is None or (int(found[2]), int(found[3])) < CMAKE_AT_LEAST:
        wanted = ".".join(map(str, CMAKE_AT_LEAST))
        raise UnusableError(f"CMake is {found[1] if found else 'unreadable'}, expected {wanted} or later")
    return found[1]
