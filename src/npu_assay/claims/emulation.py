"""Signs of an emulated run. Any one of them is enough, so that no single lie makes it pass for hardware.

Read are the logs of all stages (what the loaded library says of itself, the process maps, the device as torch
names it), environment.json, image.json, CANN's version files, npu-smi's output, the rows of results, the
paths of the environment, and the manifest. Who replaces every one of these in every file has written another
archive: that only a signature tells.
"""

import re
from collections.abc import Iterator

from npu_assay.cann.versions import EMULATED
from npu_assay.claims.case import Case
from npu_assay.claims.environment_facts import FACTS
from npu_assay.claims.process_maps import is_of_emulator, loaded_libraries
from npu_assay.claims.rules.identity import IDENTITY, STAGE, says_emulated
from npu_assay.errors import UsageError
from npu_assay.evidence.bounded import chunks_of
from npu_assay.evidence.document import read_document
from npu_assay.evidence.lines import lines_of

#: Of an environment in the cache (environment/variant.py): name, kind, digest.
_ENVIRONMENT = re.compile(r"/environments/[^/\s]+-emulated-[0-9a-f]{16}/")
_DEVICE = re.compile(r"device: \d+ x .*, emulated")
#: Bytes of a line that a message quotes.
_SHOWN = 200
_ROW = re.compile(rb'"device_kind"\s*:\s*"emulated"')


def sign_of_emulation(case: Case) -> str | None:
    """Where the archive says that the run was emulated, and how; None when it does so nowhere.

    Raises UsageError when there is no manifest to read.
    """
    recorded = case.manifest.device.kind
    return next(_signs(case), "manifest.json says device kind emulated" if recorded == "emulated" else None)


def _signs(case: Case) -> Iterator[str]:
    """In the raw files, the plainest first. One that can't be read is another rule's finding."""
    yield from _of_identity(case)
    yield from _of_environment_file(case)
    yield from _of_image(case)
    yield from _of_cann_files(case)
    yield from _of_npu_smi(case)
    stages = [stage.name for stage in case.manifest.stages]
    for stage in stages:
        for path, line in loaded_libraries(case, stage):
            if is_of_emulator(path):
                yield f"{line.evidence}: {path} was loaded, which is the emulator's"
    if case.archive.stage_log(STAGE).is_file():
        for line in case.log_lines(STAGE, "emulated"):
            if _DEVICE.fullmatch(line.text) or _ENVIRONMENT.search(line.text):
                yield f"{line.evidence} says {line.text!r}"
    yield from _of_results(case)
    yield from _of_commands(case)


def _of_identity(case: Case) -> Iterator[str]:
    if case.archive.stage_log(STAGE).is_file():
        for line in case.log_lines(STAGE, IDENTITY):
            if line.text.startswith(IDENTITY) and says_emulated(line):
                yield f"{line.evidence} says {line.text!r}"


def _of_environment_file(case: Case) -> Iterator[str]:
    try:
        facts = read_document(case.archive.environment, str(FACTS))
    except UsageError:
        return
    identity, device = facts.get("cann_identity", ""), facts.get("device")
    if str(identity).upper().startswith(EMULATED):
        yield f"{FACTS} says {identity!r}"
    if isinstance(device, dict) and device.get("kind") == "emulated":
        yield f"{FACTS} says device kind emulated"


def _of_image(case: Case) -> Iterator[str]:
    try:
        image = read_document(case.archive.image, case.archive.image.name)
    except UsageError:
        return
    if "emulated" in (image.get("device"), image.get("cann_source")):
        yield f"{case.archive.image.name} is of an emulated image"


def _of_cann_files(case: Case) -> Iterator[str]:
    for path in sorted(case.archive.cann.glob("*/*")):
        name = path.relative_to(case.archive.root).as_posix()
        if path.is_file() and any(lines_of(chunks_of(path, name), (EMULATED.encode(),))):
            yield f"{name} says {EMULATED}"


def _of_npu_smi(case: Case) -> Iterator[str]:
    for path in sorted(case.archive.device.rglob("*.txt")):
        if not path.is_file():
            continue
        name = path.relative_to(case.archive.root).as_posix()
        for line in lines_of(map(bytes.lower, chunks_of(path, name)), (b"emulated",)):
            text = line.data[:_SHOWN].decode(errors="replace").strip()
            yield f"{name}:{line.number} says {text!r}"


def _of_results(case: Case) -> Iterator[str]:
    for path in sorted(case.archive.results.glob("*.jsonl")):
        name = path.relative_to(case.archive.root).as_posix()
        if not path.is_file():
            continue
        for line in lines_of(chunks_of(path, name), (b"emulated",)):
            if _ROW.search(line.data):
                yield f"{name}:{line.number} says device_kind emulated"


def _of_commands(case: Case) -> Iterator[str]:
    for stage in case.manifest.stages:
        words = " ".join(stage.command)
        if _ENVIRONMENT.search(words) or "--device emulated" in words:
            yield f"{case.in_manifest('stages', stage.name, 'command')} has an emulated environment or device"
