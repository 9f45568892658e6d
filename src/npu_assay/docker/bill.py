"""The bill of materials of an image: the lock's, what the image is made from, and Debian's packages in it."""

from collections.abc import Iterable, Iterator

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.component import Component, ComponentType
from packageurl import PackageURL

from npu_assay.docker.built import BaseImage, BuiltImage
from npu_assay.docker.contents import DebianPackage
from npu_assay.environment.requirements import read_pins
from npu_assay.environment.sbom import bill, locked_components, own_properties
from npu_assay.project import ROOT

#: npu-assay's own Python packages, in a venv apart from the environment's.
_LAUNCHER = "launcher"


def image_bill(built: BuiltImage, packages: Iterable[DebianPackage]) -> str:
    """The document; the same image and lock give the same bytes."""
    target = built.target
    about = Component(
        type=ComponentType.CONTAINER,
        name=built.reference,
        version=f"sha256:{built.digest.sha256}",
        bom_ref=f"sha256:{built.digest.sha256}",
        description=target.labels["org.opencontainers.image.description"],
        properties=own_properties(
            target=target.name,
            digest_of=built.digest.of,
            lock=target.variant.lock.name,
            lock_sha256=target.variant.lock.sha256,
            architecture=target.architecture,
        ),
    )
    components = [
        *locked_components(target.variant, target.architecture),
        *_launcher(),
        _base(built.base),
        *map(_debian, packages),
    ]
    return bill(f"{target.variant.lock.sha256} {built.digest.sha256}", about, components)


def _launcher() -> Iterator[Component]:
    for pin in read_pins(ROOT / "requirements.txt"):
        purl = PackageURL("pypi", None, pin.name, pin.version)
        yield Component(
            type=ComponentType.LIBRARY,
            name=pin.name,
            version=pin.version,
            purl=purl,
            bom_ref=f"{_LAUNCHER}/{purl}",
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=one) for one in sorted(pin.sha256)],
            properties=own_properties(venv=_LAUNCHER),
        )


def _base(base: BaseImage) -> Component:
    digest = base.digest
    return Component(
        type=ComponentType.CONTAINER,
        name=base.reference,
        version=None if digest is None else f"sha256:{digest.sha256}",
        purl=base.purl,
        bom_ref=f"base/{base.reference}",
        properties=own_properties(role="base", digest_of=None if digest is None else digest.of),
    )


def _debian(package: DebianPackage) -> Component:
    return Component(
        type=ComponentType.LIBRARY,
        name=package.name,
        version=package.version,
        purl=package.purl,
        bom_ref=str(package.purl),
    )
