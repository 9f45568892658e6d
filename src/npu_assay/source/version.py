"""The version of a build: upstream's, and in its local part (PEP 440) which tree it is."""

from dataclasses import dataclass
from email.parser import BytesHeaderParser
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from npu_assay.errors import UsageError
from npu_assay.printable import printable
from npu_assay.source.location import DISTRIBUTION
from npu_assay.source.origin import Origin

_HASH_DIGITS = 12


@dataclass(frozen=True)
class TreeVersion:
    """A version, and where its public part was read."""

    version: str
    read_from: str


def tree_version(tree: Path, tree_sha256: str, origin: Origin, lock_version: str) -> TreeVersion:
    """0.18.0+tree.0123456789ab; a wheel's is its own, as it is installed as it is.

    The public part is the nearest tag's, else PKG-INFO's of a source distribution, else the lock's.
    """
    if origin.kind == "wheel":
        return TreeVersion(_of_wheel(tree, origin), "the wheel")
    candidates = [
        (origin.tag and origin.tag.removeprefix("v"), f"tag {origin.tag}"),
        (_of_metadata(tree / "PKG-INFO"), "PKG-INFO"),
        (lock_version, "the lock, as the tree has no tag and no PKG-INFO"),
    ]
    for text, read_from in candidates:
        try:
            public = Version(text or "").public
        except InvalidVersion:
            continue
        return TreeVersion(f"{public}{local_part(tree_sha256)}", read_from)
    raise UsageError(f"{lock_version}: the lock's version of vllm-ascend is no version")


def local_part(tree_sha256: str) -> str:
    """The end of a build's version that says which tree it is of."""
    return f"+tree.{tree_sha256[:_HASH_DIGITS]}"


def _of_wheel(tree: Path, origin: Origin) -> str:
    found = [path for path in tree.glob("*.dist-info/METADATA") if _of_metadata(path)]
    if len(found) != 1:
        raise UsageError(
            f"{origin.given}: {len(found)} *.dist-info/METADATA with a version, expected one; build the"
            " wheel again"
        )
    name = _of_metadata(found[0], "Name") or "no name"
    if canonicalize_name(name) != DISTRIBUTION:
        raise UsageError(
            f"{origin.given}: its METADATA is that of {printable(name)}, expected {DISTRIBUTION}; build the"
            " wheel again"
        )
    version = _of_metadata(found[0])
    assert version is not None, "it was looked for"
    return version


def _of_metadata(path: Path, field: str = "Version") -> str | None:
    try:
        value = BytesHeaderParser().parsebytes(path.read_bytes())[field]
    except OSError:
        return None
    return str(value) if value is not None else None
