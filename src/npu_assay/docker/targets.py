"""Which images there are: one for each lock, architecture and way to have its CANN."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from npu_assay.environment.lock import DEVICE_WORD, UNVERIFIED, Architecture, Lock
from npu_assay.environment.obstacles import obstacles
from npu_assay.environment.run_packages import wanted_packages
from npu_assay.environment.variant import Variant
from npu_assay.evidence.image import (
    CANN_SOURCES,
    CannSource,
    ImageKind,
    ImageRecord,
    cann_words,
    commits_of,
    image_record,
    target_name,
)

#: Docker's words for the architectures.
_PLATFORMS: dict[str, str] = {"x86_64": "linux/amd64", "aarch64": "linux/arm64"}
#: The chip in the name of CANN's ops package (cann/advice.py has the source of the names).
_OPS = re.compile(r"Ascend-cann-(?P<chip>[^-]+)-ops_")


@dataclass(frozen=True)
class ImageTarget:
    """One image, and what its build is told."""

    variant: Variant
    architecture: Architecture
    cann: CannSource

    @property
    def name(self) -> str:
        """Of the target in docker-bake.hcl, and of the image's tag."""
        return target_name(self.variant.lock.name, self.cann, self.architecture)

    @property
    def platform(self) -> str:
        """Docker's."""
        return _PLATFORMS[self.architecture]

    @property
    def device(self) -> str:
        """The word after --device, in the image as on a host."""
        return DEVICE_WORD[self.variant.kind]

    @property
    def chip(self) -> str | None:
        """The chip that its CANN is for, as the vendor's packages spell it; None for the emulated one."""
        if self.cann == "emulated":
            return None
        file = self.variant.component("cann-ops").file or ""
        match = _OPS.match(file)
        assert match, f"{self.variant.lock.path}: components.cann-ops.file names no chip: {file!r}"
        return match["chip"]

    @property
    def vendor_tag(self) -> str | None:
        """The tag of the vendor's image for the lock's CANN; None where the build does not start from it.

        The lock's own where it has one, else as the tags of cann-container-image are:
        `9.0.0-910b-ubuntu22.04-py3.11`.
        """
        if self.cann != "image" or self.chip is None:
            return None
        cann = self.variant.component("cann")
        if cann.image is not None:
            return cann.image.tag
        return f"{cann.version}-{self.chip.lower()}-ubuntu22.04-py{self.variant.lock.python}"

    @property
    def vendor_digest(self) -> str | None:
        """The digest of that image, where the lock has one; else whoever builds gives theirs."""
        image = self.variant.component("cann").image
        if self.cann != "image" or image is None or image.digest == UNVERIFIED:
            return None
        return image.digest

    @property
    def labels(self) -> dict[str, str]:
        """The OCI labels that follow from the lock."""
        lock = self.variant.lock
        return {
            "org.opencontainers.image.title": f"npu-assay {self.name}",
            "org.opencontainers.image.description": _description(lock, self.cann),
            "npu-assay.lock": lock.name,
            "npu-assay.lock.sha256": lock.sha256,
            "npu-assay.device": self.device,
            "npu-assay.cann": cann_words(self.variant),
            **{f"npu-assay.commit.{name}": commit for name, commit in commits_of(self.variant).items()},
        }

    def record(self, kind: ImageKind, base: str, revision: str | None) -> ImageRecord:
        """What the image says of itself, by what its build was told."""
        return image_record(
            self.variant, self.architecture, self.cann, kind=kind, base=base, revision=revision
        )

    @property
    def obstacles(self) -> list[str]:
        """What somebody has to do before it can be built, a line each."""
        found = obstacles(self.variant, self.architecture)
        if self.vendor_tag is not None and self.vendor_digest is None:
            found.append(f"the vendor's image {self.vendor_tag}: no recorded digest; give one as CANN_DIGEST")
        if self.cann == "run-packages":
            wanted = wanted_packages(self.variant, self.architecture)
            found += [
                f"{package.file}: no recorded sha256" for package in wanted.packages if not package.sha256
            ]
        return found


def image_targets(locks: Sequence[Lock]) -> Iterator[ImageTarget]:
    """The images of these locks, in their order; those of the emulator first."""
    for lock in locks:
        for kind, sources in CANN_SOURCES.items():
            if kind == "emulated" and lock.content.hardware_only:
                continue
            for source in sources:
                for architecture in get_args(Architecture):
                    yield ImageTarget(Variant.of(lock, kind), architecture, source)


def _description(lock: Lock, cann: CannSource) -> str:
    # The summary names the CANN of the NPU's variant.
    return f"{lock.content.summary}{'; the CANN in here is emulated' if cann == 'emulated' else ''}"
