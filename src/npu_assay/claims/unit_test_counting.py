"""`python -m npu_assay.claims.unit_test_counting ARCHIVE...`: write suites/vllm_ascend_ut_counts.toml."""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from npu_assay.claims.rules.unit_tests import STAGE, test_files
from npu_assay.claims.unit_test_data import COUNTS, CountedFile, Counts, Release, files_of_tests
from npu_assay.errors import AssayError, UsageError
from npu_assay.evidence.archive import Archive
from npu_assay.evidence.manifest import StageStatus, read_manifest
from npu_assay.evidence.pytest_junit import read_pytest_junit
from npu_assay.source.archived import read_listing

_HEAD = """\
# How many tests each file of vllm-ascend's tests/ut has, by version, as pytest collects them; with the sha256
# of the file and of the tree's listing. Written by ci/unit-tests from archives; read by the rule unit-tests.
"""


def count(root: Path) -> tuple[str, Release]:
    """The version and the tests of an archive's vllm-ascend.

    Raises UsageError when that is not a lock's own, or its tests did not pass.
    """
    archive = Archive(root)
    manifest = read_manifest(archive.manifest)
    record = manifest.stage(STAGE)
    if not manifest.source.is_locks or record is None or record.status is not StageStatus.PASS:
        raise UsageError(f"{root}: expected a lock's own vllm-ascend, whose stage {STAGE} passed")
    listing = read_listing(archive.source.listing)
    files = test_files(listing)
    tests = read_pytest_junit(archive.stage_junit(STAGE)).tests
    counted = Counter(files_of_tests((test.name for test in tests), files).values())
    release = Release(
        tree_sha256=listing.sha256,
        files={
            name: CountedFile(sha256=listing.files[name], tests=counted[name])
            for name in sorted(files)
            if counted[name]
        },
    )
    return manifest.source.version, release


def render(counts: Counts) -> str:
    """The data file's text."""
    lines = [_HEAD.rstrip()]
    for version, release in sorted(counts.root.items()):
        lines += ["", f'["{version}"]', f'tree_sha256 = "{release.tree_sha256}"', "", f'["{version}".files]']
        lines += [
            f'"{name}" = {{ tests = {file.tests}, sha256 = "{file.sha256}" }}'
            for name, file in release.files.items()
        ]
    return "\n".join(lines) + "\n"


def main(archives: Iterable[str]) -> int:
    """Write the file."""
    try:
        COUNTS.write_text(render(Counts(dict(count(Path(root)) for root in archives))))
    except AssayError as error:
        print(f"unit-tests: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
