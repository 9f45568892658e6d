"""Which libraries of CANN the processes of a run had loaded, from the lines that the suites print.

`process-map: <path>` for each library, and `cann-library: sha256 <hash> <path>` for libascendcl; see
suites/support/cann.py.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from npu_assay.claims.case import Case, LogLine

PROCESS_MAP = "process-map: "
_HASH = re.compile(r"cann-library: sha256 ([0-9a-f]{64}) (/.*)")
_HASH_HOLDS = "cann-library: "
LIBRARY = "libascendcl.so"
#: The emulator's place in the cache (cache.py), and what it has that CANN does not.
_EMULATORS_FOLDER = re.compile(r"/emulator/[0-9a-f]{16}/Ascend/")
_EMULATORS_LIBRARY = "libemucann"


def loaded_libraries(case: Case, stage: str) -> Iterator[tuple[str, LogLine]]:
    """Path and line of every library that processes of the stage had loaded."""
    for line in _lines(case, stage, PROCESS_MAP):
        if line.text.startswith(PROCESS_MAP):
            yield line.text.removeprefix(PROCESS_MAP), line


def library_hashes(case: Case, stage: str) -> Iterator[tuple[str, str, LogLine]]:
    """sha256, path and line of the libascendcl of each process."""
    for line in _lines(case, stage, _HASH_HOLDS):
        if match := _HASH.fullmatch(line.text):
            yield match[1], match[2], line


def is_main_library(path: str) -> bool:
    """Whether it is libascendcl."""
    return PurePosixPath(path).name.startswith(LIBRARY)


def is_of_emulator(path: str) -> bool:
    """Whether nobody but the emulator has such a library at such a place."""
    return bool(_EMULATORS_FOLDER.search(path)) or PurePosixPath(path).name.startswith(_EMULATORS_LIBRARY)


def _lines(case: Case, stage: str, holding: str) -> Iterator[LogLine]:
    if case.archive.stage_log(stage).is_file():
        yield from case.log_lines(stage, holding)
