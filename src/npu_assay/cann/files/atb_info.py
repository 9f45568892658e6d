"""`version.info` of NNAL's ATB in `nnal/atb/<version>/`: lines `key : value`.

Seen for 8.0.0 and 9.1.0; 9.0.0's was not seen.
"""

import re
from dataclasses import dataclass

from npu_assay.cann.files.keyed import read_keyed

_VERSION = "Ascend-cann-atb Version"
_SHORT = "Ascend-cann-atb"
_WITH_BUILD = re.compile(r"(?P<version>.+)\.(?P<build>B[0-9]+|EMULATED)", re.ASCII)


@dataclass(frozen=True)
class AtbInfo:
    """What ATB says of itself."""

    version: str
    build: str | None
    """Such as B150; EMULATED is the emulated one's; None where the version has none."""
    platform: str | None
    branch: str | None
    commit: str | None

    def __str__(self) -> str:
        return self.version if self.build is None else f"{self.version} ({self.build})"


def parse_atb_info(text: str, source: str) -> AtbInfo:
    """Read ATB's version.info. Raises MalformedFileError, also where its two version lines contradict."""
    keyed = read_keyed(text, source, separator=":")
    whole = keyed.required(_VERSION)
    match = _WITH_BUILD.fullmatch(whole)
    version = keyed.version(_VERSION, match["version"] if match else whole)
    short = keyed.optional(_SHORT)
    if short is not None and short != version:
        keyed.refuse(_SHORT, f"{_SHORT} is {short}, but {_VERSION} is {whole}")
    return AtbInfo(
        version=version,
        build=match["build"] if match else None,
        platform=keyed.optional("Platform"),
        branch=keyed.optional("branch"),
        commit=keyed.optional("commit id"),
    )
