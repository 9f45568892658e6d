"""Signs of an emulated run. Any one of them is enough, so that no single lie makes it pass for hardware."""

from collections.abc import Iterator

from npu_assay.cann.versions import EMULATED
from npu_assay.claims.case import Case
from npu_assay.claims.rules.identity import IDENTITY, STAGE, says_emulated
from npu_assay.errors import UsageError
from npu_assay.evidence.document import read_document


def sign_of_emulation(case: Case) -> str | None:
    """Where the archive says that the run was emulated, and how; None when it does so nowhere.

    Raises UsageError when there is no manifest to read.
    """
    recorded = case.manifest.device.kind
    return next(_signs(case), "manifest.json says device kind emulated" if recorded == "emulated" else None)


def _signs(case: Case) -> Iterator[str]:
    """In the raw files. One that can't be read is another rule's finding."""
    if case.archive.stage_log(STAGE).is_file():
        for line in case.log_lines(STAGE, IDENTITY):
            if line.text.startswith(IDENTITY) and says_emulated(line):
                yield f"{line.evidence} says {line.text!r}"
    try:
        identity = read_document(case.archive.environment, "environment.json").get("cann_identity", "")
    except UsageError:
        identity = ""
    if str(identity).upper().startswith("EMULATED"):
        yield f"environment.json says {identity!r}"
    for path in sorted(case.archive.cann.glob("*/*")):
        if path.is_file() and EMULATED.encode() in path.read_bytes():
            yield f"{path.relative_to(case.archive.root)} says {EMULATED}"
    for path in sorted(case.archive.device.rglob("*.txt")):
        lines = path.read_bytes().decode(errors="replace").split("\n") if path.is_file() else []
        for number, text in enumerate(lines, start=1):
            if "emulated" in text.lower():
                yield f"{path.relative_to(case.archive.root)}:{number} says {text.strip()!r}"
