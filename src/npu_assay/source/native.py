"""The native parts of a vllm-ascend: what CANN's and the host's compilers are given."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from npu_assay.source.listing import Listing

#: Folders and files of upstream's tree that decide what is compiled, and how.
FOLDERS = ("csrc", "cmake")
FILES = ("CMakeLists.txt", "setup.py")
#: Submodules' place. Source distributions do not have them, so that one side without any is no difference.
_SUBMODULES = "csrc/third_party/"

PACKAGE = "vllm_ascend"
_CUSTOM_OPS = "_cann_ops_custom"
_OWN_FILES = (".gitkeep",)


def native_parts(listing: Listing) -> Listing:
    """Those of a source tree."""
    return _only(listing, (name for name in listing.files if _is_native(name)))


def compiled_parts(listing: Listing) -> Listing:
    """Those of an unpacked wheel: what a compiler has made."""
    return _only(listing, (name for name in listing.files if is_compiled(name)))


def is_compiled(name: str) -> bool:
    """Whether a file of the package, named from the folder that the package is in, was made by a compiler."""
    path = PurePosixPath(name)
    if path.parts[0] != PACKAGE or path.name in _OWN_FILES:
        return False
    return path.suffix == ".so" or _CUSTOM_OPS in path.parts


def differences(ours: Listing, base: Listing) -> list[str]:
    """The names of files that are not the same in both, sorted; executable bits do not count."""
    names = set(ours.files) | set(base.files)
    if not all(any(name.startswith(_SUBMODULES) for name in one.files) for one in (ours, base)):
        names = {name for name in names if not name.startswith(_SUBMODULES)}
    return sorted(name for name in names if ours.files.get(name) != base.files.get(name))


def _is_native(name: str) -> bool:
    return name in FILES or name.partition("/")[0] in FOLDERS


def _only(listing: Listing, names: Iterable[str]) -> Listing:
    return Listing({name: listing.files[name] for name in names})
