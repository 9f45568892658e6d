"""What stands in an image: which system its base is, Debian's packages, and a vllm-ascend of the image's own.

Files are copied out of a container that is never started: so an image of another architecture is as good.
"""

import hashlib
import io
import shlex
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from packageurl import PackageURL

from npu_assay.docker.client import ask, container_of
from npu_assay.errors import UnusableError, UsageError
from npu_assay.evidence.image import ImageRecord
from npu_assay.evidence.strict_json import parse_strictly

_HOME = "/opt/npu-assay"
#: Of /var/lib/dpkg/status, the packages that are there: not those of which settings are left.
_INSTALLED = "install ok installed"


@dataclass(frozen=True)
class DebianPackage:
    """A package that is installed."""

    distribution: str
    """`debian-12`, as package URLs want it."""
    name: str
    version: str
    architecture: str

    @property
    def purl(self) -> PackageURL:
        """Its package URL, type deb."""
        vendor = self.distribution.partition("-")[0]
        qualifiers = {"arch": self.architecture, "distro": self.distribution}
        return PackageURL("deb", vendor, self.name, self.version, qualifiers)


@dataclass(frozen=True)
class OwnSource:
    """The image's own vllm-ascend: its origin, and its patches."""

    origin: bytes | None
    """origin.json as `npu-assay build --export` writes it; None where it is the lock's own."""
    patches: dict[str, str]
    """Name -> sha256."""


@dataclass(frozen=True)
class ImageContents:
    """What was looked at."""

    record: ImageRecord
    """image.json."""
    packages: tuple[DebianPackage, ...]
    own: OwnSource


def look_into(image: str) -> ImageContents:
    """Read it. Raises UnusableError where docker can't, UsageError for an image that is none of ours."""
    with container_of(image) as container:
        own = dict(_files(container, f"{_HOME}/own"))
        record = _file(container, f"{_HOME}/image.json")
        if record is None:
            raise UsageError(f"{image}: no image of npu-assay: it has no {_HOME}/image.json")
        distribution = read_distribution(
            (_file(container, "/etc/os-release") or b"").decode(errors="replace")
        )
        status = (_file(container, "/var/lib/dpkg/status") or b"").decode(errors="replace")
    return ImageContents(
        parse_strictly(record, "image.json", ImageRecord),
        tuple(read_packages(status, distribution)),
        own_source(own),
    )


def read_distribution(text: str) -> str:
    """ID and VERSION_ID of os-release(5), as in `debian-12`."""
    values = dict(word.split("=", 1) for word in shlex.split(text, comments=True) if "=" in word)
    return "-".join(values[key] for key in ("ID", "VERSION_ID") if key in values) or "unknown"


def read_packages(status: str, distribution: str) -> Iterator[DebianPackage]:
    """The packages of a dpkg status file (dpkg(1), deb822(5)), by name."""
    found = []
    for paragraph in status.split("\n\n"):
        fields = dict(
            line.split(": ", 1)
            for line in paragraph.splitlines()
            if ": " in line and not line.startswith(" ")
        )
        if fields.get("Status") == _INSTALLED:
            found.append((fields["Package"], fields["Version"], fields["Architecture"]))
    yield from (DebianPackage(distribution, *one) for one in sorted(found))


def own_source(files: dict[str, bytes]) -> OwnSource:
    """Of the files below `own`, by name."""
    patches = {
        PurePosixPath(name).relative_to("own/patches").as_posix(): hashlib.sha256(data).hexdigest()
        for name, data in sorted(files.items())
        if name.startswith("own/patches/")
    }
    return OwnSource(files.get("own/vllm-ascend/origin.json"), patches)


def _file(container: str, path: str) -> bytes | None:
    return next((data for _, data in _files(container, path)), None)


def _files(container: str, path: str) -> Iterator[tuple[str, bytes]]:
    """The regular files at a path, a file's or a folder's, by their names from its last part on."""
    try:
        archive = ask("container", "cp", "--follow-link", f"{container}:{path}", "-")
    except UnusableError as error:
        if "Could not find the file" in str(error) or "No such container:path" in str(error):
            return
        raise
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if member.isfile() and (content := tar.extractfile(member)) is not None:
                yield member.name, content.read()
