"""An image that was built, and what it was built from."""

from collections.abc import Mapping
from dataclasses import dataclass

from packageurl import PackageURL

from npu_assay.docker.identity import split_tag
from npu_assay.docker.targets import ImageTarget
from npu_assay.evidence.image import ImageDigest, ImageRecord
from npu_assay.evidence.manifest import ProjectRecord


@dataclass(frozen=True)
class BaseImage:
    """What a build starts from."""

    reference: str
    """As it was given."""
    digest: ImageDigest | None
    """None where neither the reference nor docker has one."""

    @property
    def purl(self) -> PackageURL:
        """Its package URL, type docker, of the reference alone."""
        name, _, digest = self.reference.partition("@")
        repository, tag = split_tag(name)
        registry, _, rest = repository.partition("/")
        if not rest or not (registry == "localhost" or {".", ":"} & set(registry)):  # as docker tells them
            registry, rest = "", repository
        namespace, _, name = rest.rpartition("/")
        qualifiers = {"repository_url": registry} if registry else None
        return PackageURL("docker", namespace or None, name, digest or tag or "latest", qualifiers)


@dataclass(frozen=True)
class BuiltImage:
    """One image."""

    target: ImageTarget
    reference: str
    """The tag that it was given."""
    name: str
    """Its digest, as docker takes it for a name."""
    digest: ImageDigest
    """The same, read."""
    record: ImageRecord
    """What it has to say of itself, by what its build was told."""
    base: BaseImage
    variables: Mapping[str, str]
    """Of the bake file, those that the shell gave, without secrets."""
    arguments: tuple[str, ...]
    """Of `docker buildx bake`, those that were given besides."""
    project: ProjectRecord
    """npu-assay as it was when the build began."""
    builder: Mapping[str, str]
    """Tool -> version."""
