"""image.json: the image of npu-assay's that a run was made in.

The last layer of an image writes it (docker/Dockerfile), with what the build knows. An image can't have its
own digest in it, so whoever starts a container gives that, and `run` puts both into the archive's image.json.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from npu_assay.environment.lock import DEVICE_WORD, Architecture, Commit, DeviceWord, Kind
from npu_assay.environment.variant import Variant
from npu_assay.errors import UsageError
from npu_assay.evidence.record import Record
from npu_assay.evidence.strict_json import read_strictly
from npu_assay.source.record import Sha256

CannSource = Literal["emulated", "image", "run-packages"]
"""Where an image has its CANN from: the Dockerfile's argument CANN.

emulated: src/emucann. image: the vendor's, which the build starts from. run-packages: the vendor's packages.
"""
ImageKind = Literal["runtime", "dev"]
"""The Dockerfile's argument IMAGE."""
CANN_SOURCES: Mapping[Kind, tuple[CannSource, ...]] = {
    "emulated": ("emulated",),
    "hardware": ("image", "run-packages"),
}

#: What a container is told of its image: the name that it was started by, and the digest.
REFERENCE_VARIABLE = "NPU_ASSAY_IMAGE"
DIGEST_VARIABLE = "NPU_ASSAY_IMAGE_DIGEST"

#: What docker takes for a name with tag and digest, roughly: one word that no shell or terminal obeys.
_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,511}")
_DIGEST = re.compile(
    r"(?:(?P<repository>[A-Za-z0-9][A-Za-z0-9._:/-]{0,255})@)?sha256:(?P<sha256>[0-9a-f]{64})"
)


class ImageDigest(Record):
    """Which bytes an image is."""

    of: Literal["manifest", "id"]
    """`manifest`: what a registry has under NAME@sha256:..., the same for everybody. `id`: what `docker image
    inspect` calls Id; the sha256 of the image's configuration, or of its manifest where Docker keeps images
    in containerd's store.
    """
    sha256: Sha256

    @classmethod
    def read(cls, text: str) -> "ImageDigest":
        """As docker writes it: NAME@sha256:... of a manifest, sha256:... of an id. Raises ValueError."""
        found = _DIGEST.fullmatch(text)
        if found is None:
            raise ValueError(text)
        return cls(of="manifest" if found["repository"] else "id", sha256=found["sha256"])

    def __str__(self) -> str:
        return f"sha256:{self.sha256} ({self.of})"


class ImageRecord(Record):
    """An image of npu-assay's; as it says so itself, but for `reference` and `digest`."""

    schema_version: Literal[1] = 1
    target: str
    """Of docker-bake.hcl: lock, source of CANN, architecture."""
    kind: ImageKind
    lock: str
    lock_sha256: Sha256
    device: DeviceWord
    """The word after --device."""
    cann_source: CannSource
    cann: str
    """Version and build that the lock names."""
    architecture: Architecture
    commits: dict[str, Commit] = Field(default_factory=dict)
    """Component -> the upstream commit that the lock names."""
    base: Annotated[str, StringConstraints(pattern=r"^\S+$")]
    """What the build started from, as it was given: with a digest where somebody gave one."""
    revision: Annotated[str, StringConstraints(pattern=r"^\S+$")] | None = None
    """The commit of npu-assay, where the build was told."""
    reference: Annotated[str, StringConstraints(pattern=rf"^{_REFERENCE.pattern}$")] | None = None
    """The name that the container was started by; None where nobody said, and in the image's own file."""
    digest: ImageDigest | None = None
    """Likewise."""

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        return self.reference or self.target


def target_name(lock: str, cann_source: str, architecture: str) -> str:
    """Of the target in docker-bake.hcl, and of the image's tag."""
    return f"{lock}-{cann_source}-{architecture}"


def cann_words(variant: Variant) -> str:
    """Version and build of a variant's CANN."""
    cann = variant.component("cann")
    return f"{cann.version} {cann.build or '(build not named)'}"


def commits_of(variant: Variant) -> dict[str, str]:
    """Component -> upstream commit, of those that name one."""
    return {name: component.commit for name, component in variant.components.items() if component.commit}


def image_record(  # the build's arguments
    variant: Variant,
    architecture: Architecture,
    cann_source: CannSource,
    *,
    kind: ImageKind,
    base: str,
    revision: str | None,
) -> ImageRecord:
    """What an image says of itself; a rule derives it again from the archive's lock."""
    return ImageRecord(
        target=target_name(variant.lock.name, cann_source, architecture),
        kind=kind,
        lock=variant.lock.name,
        lock_sha256=variant.lock.sha256,
        device=DEVICE_WORD[variant.kind],
        cann_source=cann_source,
        cann=cann_words(variant),
        architecture=architecture,
        commits=commits_of(variant),
        base=base,
        revision=revision,
    )


def image_of_run(variables: Mapping[str, str], file: Path) -> ImageRecord | None:
    """The image that this process is in, with what these variables say of it; None outside of one.

    Raises UsageError for a value that names no image or digest, and for either where there is no image.
    """
    given = {name: variables.get(name) or None for name in (REFERENCE_VARIABLE, DIGEST_VARIABLE)}
    reference, text = given.values()
    if reference is not None and not _REFERENCE.fullmatch(reference):
        raise UsageError(
            f"{REFERENCE_VARIABLE} is {reference!r}, expected an image's name, as `docker run` has it"
        )
    try:
        digest = None if text is None else ImageDigest.read(text)
    except ValueError as error:
        raise UsageError(
            f"{DIGEST_VARIABLE} is {text!r}, expected sha256: and 64 hex digits, alone for an image's id,"
            " after NAME@ for what a registry has; see docs/images.md"
        ) from error
    if not file.is_file():
        if told := [name for name, value in given.items() if value is not None]:
            raise UsageError(f"{told[0]} is set, but this is no image of npu-assay: no {file}; unset it")
        return None
    return read_image(file, str(file)).model_copy(update={"reference": reference, "digest": digest})


def write_image(path: Path, record: ImageRecord) -> None:
    """Write image.json."""
    path.write_text(record.model_dump_json(indent=2) + "\n")


def read_image(path: Path, name: str) -> ImageRecord:
    """Read an image.json. Raises UsageError that begins with `name` for the first thing wrong in it."""
    return read_strictly(path, name, ImageRecord)
