"""The files of an archive that are derived from its sealed ones: written, and derived again to check them.

A derived file is a function of the sealed files and of the npu-assay that derives it: no clock, no path, no
locale. So whoever has the archive can derive it again, and another byte in it is a failed finding.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from npu_assay.claims.case import Mode
from npu_assay.claims.checkout import OWN, Checkout
from npu_assay.claims.findings import Evidence, Finding, Result
from npu_assay.claims.shards import in_shard
from npu_assay.claims.verdict import Verdict, own_mode, verify
from npu_assay.errors import AssayError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.atomic import write_atomically
from npu_assay.evidence.merged.part import shard_folders
from npu_assay.printable import printable
from npu_assay.report.deriver import Deriver, this_deriver
from npu_assay.report.html import deriver_of_html, render_html
from npu_assay.report.markdown import deriver_of_markdown, render_markdown
from npu_assay.report.statement import deriver_of_statement, render_statement

RULE = "derived/1"
#: Bytes that are read of a derived file; no honest one comes near.
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Derived:
    """A kind of derived file."""

    name: str
    """At the archive's root."""
    render: Callable[[Archive, Verdict, Deriver], bytes]
    """The bytes for the verdict in the archive's own mode. Raises AssayError where there can be none."""
    deriver_of: Callable[[bytes], Deriver]
    """By which npu-assay the bytes say that they were derived. Raises AssayError where they do not."""
    required: bool
    """Whether an archive has to have it."""


#: In the order in which they are written.
DERIVED: tuple[Derived, ...] = (
    Derived("statement.intoto.json", render_statement, deriver_of_statement, required=True),
    Derived("report.md", render_markdown, deriver_of_markdown, required=False),
    Derived("report.html", render_html, deriver_of_html, required=False),
)


#: Those that people read: who has signed a statement may still want them.
REPORTS = tuple(derived for derived in DERIVED if not derived.required)


def derive(root: Path, checkout: Checkout = OWN, which: Sequence[Derived] = DERIVED) -> Verdict:
    """Judge a sealed archive in its own mode and write what is derived from it; returns that verdict."""
    verdict = verify(root, own_mode(root), checkout)
    write_derived(Archive(root), verdict, which)
    return verdict


def write_derived(archive: Archive, verdict: Verdict, which: Sequence[Derived] = DERIVED) -> None:
    """Write these derived files, each atomically. `verdict` is that in the archive's own mode."""
    for derived in which:
        data = derived.render(archive, verdict, this_deriver())
        write_atomically(archive.root / derived.name, data)


def check_derived(archive: Archive, verdict: Verdict, checkout: Checkout = OWN) -> list[Finding]:
    """Hold the derived files against what is derived again from the verdict in the archive's own mode.

    Those of a merged archive's shards are of the shards' own verdicts.
    """
    findings = [finding for derived in DERIVED for finding in _check(derived, archive, verdict)]
    for folder in shard_folders(archive):
        of_shard = check_derived(Archive(folder), verify(folder, own_mode(folder), checkout))
        findings += [in_shard(finding, f"shards/{folder.name}") for finding in of_shard]
    return findings


def judge(root: Path, mode: Mode, checkout: Checkout = OWN) -> Verdict:
    """What `npu-assay verify` says: the verdict of the rules, and on the derived files.

    Raises UsageError when there is no archive.
    """
    verdict = verify(root, mode, checkout)
    if mode is Mode.FORMAL and verdict.emulated:
        return verdict  # refused, whatever is derived from it
    own = verdict if mode is verdict.own_mode else verify(root, verdict.own_mode, checkout, verdict)
    return verdict.with_findings(check_derived(Archive(root), own, checkout))


def _check(derived: Derived, archive: Archive, verdict: Verdict) -> Iterator[Finding]:
    path, evidence = archive.root / derived.name, (Evidence(derived.name),)
    if not (path.exists() or path.is_symlink()):
        if derived.required:
            missing = f"{derived.name}: missing; write it with `npu-assay archive sums`"
            yield Finding(RULE, Result.FAIL, missing, evidence)
        return
    try:
        result, message = _compare(derived, path, archive, verdict)
    except AssayError as error:
        result, message = Result.FAIL, printable(str(error))
    except OSError as error:
        result, message = Result.FAIL, f"can't be read ({error.strerror})"
    yield Finding(RULE, result, f"{derived.name}: {message}", evidence)


def _compare(derived: Derived, path: Path, archive: Archive, verdict: Verdict) -> tuple[Result, str]:
    if path.is_symlink() or not path.is_file():
        return Result.FAIL, "not a regular file"
    with path.open("rb") as file:
        found = file.read(_MOST_BYTES + 1)
    if len(found) > _MOST_BYTES:
        return Result.FAIL, f"more than {_MOST_BYTES} bytes, which no derived file has"
    if found == derived.render(archive, verdict, this_deriver()):
        return Result.PASS, "derived again, byte for byte"
    other = derived.deriver_of(found)
    if other == this_deriver():
        return Result.FAIL, "not the bytes that are derived from the sealed files"
    # What another npu-assay derived may be the same but for its name.
    if found == derived.render(archive, verdict, other):
        return Result.PASS, f"derived again, byte for byte but for the name of {other}"
    return Result.INCONCLUSIVE, f"derived by {other}, and {this_deriver()} derives other bytes"
