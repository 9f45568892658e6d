"""An environment as a software bill of materials: CycloneDX 1.6, JSON, by its own library.

The same lock gives the same bytes: the serial number is made from the lock's sha256, and there is no time.
"""

import json
import uuid
from collections.abc import Iterable

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component as BomComponent
from cyclonedx.model.component import ComponentType
from cyclonedx.model.tool import ToolRepository
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from npu_assay import __version__
from npu_assay.environment.lock import OF_CANN, UNVERIFIED, Component
from npu_assay.environment.requirements import read_pins
from npu_assay.environment.variant import Variant

#: Where our own properties stand, as CycloneDX's "Property Taxonomy" asks for.
_NAMESPACE = "npu-assay"


def sbom(variant: Variant, architecture: str) -> str:
    """The bill of a variant on an architecture.

    Hashes are sha256: of a component's one file; of a requirement, those of every file of its version, as the
    lock does not say which a machine takes. Licences are not in locks, so not here either.
    """
    lock = variant.lock
    environment = BomComponent(
        type=ComponentType.PLATFORM,
        name=lock.name,
        version=lock.sha256,
        bom_ref=lock.name,
        description=lock.content.summary,
        properties=own_properties(kind=variant.kind, architecture=architecture, python=lock.content.python),
    )
    return bill(
        f"{lock.sha256} {variant.kind} {architecture}", environment, locked_components(variant, architecture)
    )


def locked_components(variant: Variant, architecture: str) -> list[BomComponent]:
    """What a lock pins: its components, and every requirement."""
    pins = read_pins(variant.lock.requirements_file)
    return [
        *(_component(name, pin, architecture) for name, pin in variant.components.items()),
        *(pypi(pin.name, pin.version, _hashes(pin.sha256)) for pin in pins),
    ]


def bill(content: str, about: BomComponent, components: Iterable[BomComponent]) -> str:
    """The document about a component that has the others in it; its serial number is made from `content`."""
    bom = Bom(
        serial_number=uuid.uuid5(uuid.NAMESPACE_OID, content),
        metadata=BomMetaData(
            component=about,
            tools=ToolRepository(
                components=[
                    BomComponent(type=ComponentType.APPLICATION, name="npu-assay", version=__version__)
                ]
            ),
        ),
        components=components,
    )
    bom.register_dependency(about, bom.components)
    document = json.loads(JsonV1Dot6(bom).output_as_string())
    del document["metadata"]["timestamp"]  # optional, and the library's own is the time of this call
    return json.dumps(document, indent=2) + "\n"


def _component(name: str, component: Component, architecture: str) -> BomComponent:
    sha256 = component.artefact_sha256(architecture)
    hashes = _hashes([sha256] if sha256 and sha256 != UNVERIFIED else [])
    properties = own_properties(
        build=component.build,
        source=component.source,
        commit=component.commit,
        file=component.file and component.file.format(architecture=architecture),
        sha256=UNVERIFIED if sha256 == UNVERIFIED else None,
        deviation=component.deviation,
        notes=" ".join(component.notes) or None,
    )
    purl = purl_of(name, component)
    return BomComponent(
        type=ComponentType.PLATFORM if name in OF_CANN else ComponentType.LIBRARY,
        name=name,
        version=component.version,
        purl=purl,
        bom_ref=str(purl),
        hashes=hashes,
        properties=properties,
    )


def purl_of(name: str, component: Component) -> PackageURL:
    """The package URL of a lock's component: type pypi, or generic for CANN and for sources."""
    if name not in OF_CANN and component.source != "git":
        return PackageURL("pypi", None, name, component.version)
    qualifiers = {"build": component.build} if component.build else None
    if component.source == "git":
        qualifiers = {"vcs_url": f"git+{component.repository}@{component.commit}"}
    return PackageURL("generic", None, name, component.version, qualifiers)


def pypi(name: str, version: str, hashes: Iterable[HashType]) -> BomComponent:
    """A distribution of Python's index."""
    purl = PackageURL("pypi", None, name, version)
    return BomComponent(
        type=ComponentType.LIBRARY,
        name=name,
        version=version,
        purl=purl,
        bom_ref=str(purl),
        hashes=hashes,
    )


def _hashes(sha256: Iterable[str]) -> list[HashType]:
    return [HashType(alg=HashAlgorithm.SHA_256, content=one) for one in sorted(sha256)]


def own_properties(**values: str | None) -> list[Property]:
    """Our own properties, of those that have a value."""
    return [
        Property(name=f"{_NAMESPACE}:{name}", value=value)
        for name, value in values.items()
        if value is not None
    ]
