"""RECORD, kept true when a file of a distribution is changed on purpose."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from npu_assay.environment.installed import installed
from npu_assay.environment.record import digest_of
from npu_assay.errors import UnusableError


def repair_record(
    site_packages: Path, distribution: str, paths: Sequence[str], added: Sequence[str] = ()
) -> None:
    """Write the files' present hashes and sizes into RECORD, as PyPA's specification of it says.

    `paths` are below site-packages and stand in RECORD; `added` may be new to it. Raises UnusableError where
    there is no RECORD, or it doesn't list one of `paths`.
    """
    there = installed(site_packages).get(distribution)
    if there is None or not (record := there.dist_info / "RECORD").is_file():
        raise UnusableError(f"{site_packages}: no RECORD of {distribution}; install it from its wheel")
    rows = {row[0]: row for row in csv.reader(io.StringIO(record.read_text()))}
    if missing := set(paths) - set(rows):
        raise UnusableError(f"{record}: does not list {', '.join(sorted(missing))}")
    for path in (*paths, *added):
        content = (site_packages / path).read_bytes()
        rows[path] = [path, f"sha256={digest_of(content)}", str(len(content))]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows.values())
    if out.getvalue() != record.read_text():
        record.write_text(out.getvalue())
