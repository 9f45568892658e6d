"""The run's vllm-ascend: listing, patches, native parts, and the files that were loaded are of one tree."""

import os
from collections.abc import Iterator
from pathlib import PurePosixPath

from npu_assay.claims.case import Case
from npu_assay.claims.environment_facts import FACTS
from npu_assay.claims.findings import Evidence, Finding
from npu_assay.claims.rule import Rule
from npu_assay.digest import sha256_of
from npu_assay.errors import UsageError
from npu_assay.evidence.document import read_document
from npu_assay.source.archived import read_listing, read_record
from npu_assay.source.listing import Listing
from npu_assay.source.native import compiled_parts, differences, is_compiled, native_parts

_RECORD = Evidence("source/source.json")
_LISTING = Evidence("source/files.sha256")
_BASE = Evidence("source/base-native.sha256")
#: What setup.py writes when it builds.
_GENERATED = ("vllm_ascend/_build_info.py", "vllm_ascend/_version.py")
_SHOWN = 5


class SourceRule(Rule):
    """Everything about the tree, derived again from the archive's source/ and environment.json.

    Holds the manifest's `source` against them. It can't know whether the listing was made of the tree that
    was built, nor what is in compiled parts that the run's own tree brought.
    """

    name = "source"
    version = 1

    def check(self, case: Case) -> Iterator[Finding]:
        record = case.manifest.source
        if read_record(case.archive.source) == record:
            yield self.passed(f"vllm-ascend {record.version} from {record.given}", _manifest(case), _RECORD)
        else:
            yield self.failed("source.json is not what manifest.json says", _manifest(case), _RECORD)
        listing = case.listing
        yield self._tree(case, listing)
        yield from self._patches(case)
        yield from self._native(case, listing)
        yield from self._loaded(case, listing)

    def _tree(self, case: Case, listing: Listing) -> Finding:
        record = case.manifest.source
        if (listing.sha256, len(listing.files)) != (record.tree_sha256, record.files):
            return self.failed(
                f"the listing is {listing.sha256} of {len(listing.files)} files, the manifest says"
                f" {record.tree_sha256} of {record.files}",
                _LISTING,
                _manifest(case),
            )
        locks = case.manifest.environment.versions.get("vllm-ascend")
        if record.is_locks and (
            record.patches or record.version != locks or case.archive.source.base.exists()
        ):
            return self.failed(
                f"it is called the lock's own, which is {locks} without patches and has nothing to be held"
                f" against; found {record.version}, {len(record.patches)} patches",
                _manifest(case),
            )
        if record.own_version is not None and not record.version.endswith(record.own_version):
            return self.failed(
                f"version {record.version} does not end with {record.own_version}", _manifest(case)
            )
        message = f"the listing of {record.files} files is {record.tree_sha256}"
        return self.passed(message, _LISTING, _manifest(case))

    def _patches(self, case: Case) -> Iterator[Finding]:
        folder = case.archive.source.patches
        there = {path.name: path for path in folder.iterdir()} if folder.is_dir() else {}
        recorded = {patch.file: patch for patch in case.manifest.source.patches}
        for name in sorted(there.keys() - recorded.keys()):
            yield self.failed(f"{name}: not a patch of the manifest", Evidence(f"source/patches/{name}"))
        for name, patch in recorded.items():
            place = Evidence(f"source/patches/{name}")
            found = sha256_of(there[name]) if name in there else "not there"
            if found == patch.sha256:
                yield self.passed(f"patch {patch.name} is {found}", place, _manifest(case))
            else:
                yield self.failed(f"patch {patch.name} is {found}, the manifest says {patch.sha256}", place)

    def _native(self, case: Case, listing: Listing) -> Iterator[Finding]:
        record = case.manifest.source
        if record.is_locks:
            yield self.passed("native parts: those of the lock's own vllm-ascend", _manifest(case))
            return
        if case.manifest.device.kind == "hardware":
            yield self.not_applicable("native parts: compiled for the NPU", _manifest(case))
            return
        ours = compiled_parts(listing) if record.kind == "wheel" else native_parts(listing)
        different = differences(ours, read_listing(case.archive.source.base))
        for name in different:
            yield self.inconclusive(
                f"{name} differs from the lock's own, whose compiled parts ran: it was not tried",
                _LISTING,
                _BASE,
            )
        if not different:
            yield self.passed(f"native parts: {len(ours.files)} files, as the lock's own", _LISTING, _BASE)

    def _loaded(self, case: Case, listing: Listing) -> Iterator[Finding]:
        if not case.archive.environment.exists():
            yield self.not_applicable(f"no {FACTS}, so nothing is known about what was loaded")
            return
        loaded, expected = _loaded_files(case), _packaged(listing)
        wrong = sorted(name for name in expected | loaded if expected.get(name) != loaded.get(name))
        for name in wrong[:_SHOWN]:
            found, wanted = loaded.get(name, "missing"), expected.get(name, "not in the tree")
            yield self.failed(f"{name}: loaded {found}, the tree's is {wanted}", FACTS, _LISTING)
        if len(wrong) > _SHOWN:
            yield self.failed(f"and {len(wrong) - _SHOWN} more files of the package", FACTS, _LISTING)
        if not wrong:
            message = f"the {len(loaded)} Python files of the package are the tree's"
            yield self.passed(message, FACTS, _LISTING)


def _loaded_files(case: Case) -> dict[str, str]:
    """Name -> sha256, of the Python files in the package that was imported, but what was made with it."""
    files = read_document(case.archive.environment, str(FACTS)).get("vllm_ascend_files")
    if not isinstance(files, dict) or not files:
        raise UsageError(f"{FACTS}: expected vllm_ascend_files, with a sha256 of each file")
    items = {str(name): str(sha256) for name, sha256 in files.items()}
    return {
        name: sha256 for name, sha256 in items.items() if name not in _GENERATED and not is_compiled(name)
    }


def _packaged(listing: Listing) -> dict[str, str]:
    """The Python files that setuptools takes for the package: those below folders with an __init__.py.

    Of a link to a file it takes the content.
    """
    linked = {name: os.path.normpath(f"{name}/../{target}") for name, target in listing.links.items()}
    files = {name: listing.files[file] for name, file in linked.items() if file in listing.files}
    return {
        name: sha256
        for name, sha256 in (files | dict(listing.files)).items()
        if name.startswith("vllm_ascend/")
        and name.endswith(".py")
        and name not in _GENERATED
        and not is_compiled(name)
        and all(
            f"{parent}/__init__.py" in listing.files for parent in PurePosixPath(name).parents if parent.parts
        )
    }


def _manifest(case: Case) -> Evidence:
    return case.in_manifest("source")
