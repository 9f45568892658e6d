"""provenance.intoto.json: what an image was built from, as in-toto Statement v1 with SLSA's provenance v1.

Sources: in-toto attestation, spec/v1/statement.md; slsa.dev/spec/v1.0/provenance. No times stand in it, so
that the same image from the same lock, variables and checkout has the same provenance.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field

from npu_assay.digest import sha256_of
from npu_assay.docker.built import BuiltImage
from npu_assay.docker.contents import OwnSource
from npu_assay.environment.lock import UNVERIFIED
from npu_assay.environment.sbom import purl_of
from npu_assay.project import ROOT
from npu_assay.source.exported import parse_origin
from npu_assay.source.location import without_credentials
from npu_assay.strict import Strict

#: Package URLs: npu-assay is published as a checkout only. The parameters' meaning: docs/image-contents.md.
_OURS = "pkg:generic/npu-assay"
_BUILD_TYPE = f"{_OURS}#docker-build/v1"
#: Of the checkout, what decides what an image is made of.
_INPUTS = ("docker/Dockerfile", "docker/docker-bake.hcl", "requirements.txt")


class _Aliased(Strict):
    model_config = ConfigDict(serialize_by_alias=True)


class Resource(_Aliased):
    """in-toto's ResourceDescriptor, which has to have one of `uri` and `digest`."""

    name: str
    uri: str | None = None
    digest: dict[str, str] | None = None
    """By algorithm: sha256, gitCommit. None where nobody knows one."""
    annotations: dict[str, str] | None = None


class Parameters(_Aliased):
    """What whoever built it chose."""

    target: str
    """Of docker/docker-bake.hcl."""
    variables: dict[str, str]
    """Of that file, those that were given; of a secret no more than that."""
    arguments: tuple[str, ...]
    """What `docker buildx bake` was given besides."""


class BuildDefinition(_Aliased):
    """SLSA's buildDefinition."""

    build_type: str = Field(alias="buildType")
    external_parameters: Parameters = Field(alias="externalParameters")
    resolved_dependencies: tuple[Resource, ...] = Field(alias="resolvedDependencies")


class Builder(_Aliased):
    """SLSA's builder: npu-assay on somebody's machine, which vouches for nothing by itself."""

    id: str
    version: dict[str, str]


class RunDetails(_Aliased):
    """SLSA's runDetails."""

    builder: Builder
    byproducts: tuple[Resource, ...]


class Provenance(_Aliased):
    """The predicate."""

    build_definition: BuildDefinition = Field(alias="buildDefinition")
    run_details: RunDetails = Field(alias="runDetails")


class ProvenanceStatement(_Aliased):
    """The whole of provenance.intoto.json."""

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: tuple[Resource, ...] = Field(min_length=1)
    predicate_type: Literal["https://slsa.dev/provenance/v1"] = Field(alias="predicateType")
    predicate: Provenance


def render_provenance(built: BuiltImage, own: tuple[Resource, ...], byproducts: Mapping[str, Path]) -> bytes:
    """The statement's bytes: keys sorted, ASCII, lines end in LF.

    `own` is the image's own vllm-ascend and its patches. `byproducts` are files beside it that are as
    deterministic as it is.
    """
    statement = ProvenanceStatement(
        _type="https://in-toto.io/Statement/v1",
        subject=(
            Resource(
                name=built.reference,
                digest={"sha256": built.digest.sha256},
                annotations={"digestOf": built.digest.of},
            ),
        ),
        predicateType="https://slsa.dev/provenance/v1",
        predicate=Provenance(
            buildDefinition=BuildDefinition(
                buildType=_BUILD_TYPE,
                externalParameters=Parameters(
                    target=built.target.name,
                    variables=dict(sorted(built.variables.items())),
                    arguments=tuple(map(without_credentials, built.arguments)),
                ),
                resolvedDependencies=(
                    _project(built),
                    *_inputs(built),
                    _base(built),
                    *_components(built),
                    *own,
                ),
            ),
            runDetails=RunDetails(
                builder=Builder(id=f"{_OURS}@{built.project.version}", version=dict(built.builder)),
                byproducts=tuple(
                    Resource(name=name, digest={"sha256": sha256_of(path)})
                    for name, path in sorted(byproducts.items())
                ),
            ),
        ),
    )
    document = statement.model_dump(by_alias=True, exclude_none=True, mode="json")
    return json.dumps(document, indent=2, sort_keys=True).encode() + b"\n"


def own_resources(own: OwnSource) -> tuple[Resource, ...]:
    """The image's own vllm-ascend and patches, if any. Raises UsageError for an origin that is none."""
    found = []
    if own.origin is not None:
        origin = parse_origin(own.origin, "own/vllm-ascend/origin.json")
        digest = {"sha256": origin.tree_sha256}
        if origin.commit is not None:
            digest["gitCommit"] = origin.commit
        notes = {"of": "files.sha256, the listing of all files before patches", "given": origin.given}
        if origin.dirty:
            notes["uncommittedChanges"] = "yes"
        found.append(Resource(name="vllm-ascend of the image's own", digest=digest, annotations=notes))
    for name, sha256 in own.patches.items():
        found.append(Resource(name=f"patches/{name}", digest={"sha256": sha256}))
    return tuple(found)


def _project(built: BuiltImage) -> Resource:
    project = built.project
    return Resource(
        name="npu-assay",
        uri=f"{_OURS}@{project.version}",
        digest=None if project.commit is None else {"gitCommit": project.commit},
        annotations={"uncommittedChanges": "yes"} if project.dirty else None,
    )


def _inputs(built: BuiltImage) -> Iterator[Resource]:
    lock = built.target.variant.lock
    for path in (*(ROOT / name for name in _INPUTS), lock.path, lock.requirements_file):
        yield Resource(name=path.resolve().relative_to(ROOT).as_posix(), digest={"sha256": sha256_of(path)})


def _base(built: BuiltImage) -> Resource:
    base = built.base
    return Resource(
        name=base.reference,
        uri=str(base.purl),
        digest=None if base.digest is None else {"sha256": base.digest.sha256},
        annotations={"role": "base"} | ({} if base.digest is None else {"digestOf": base.digest.of}),
    )


def _components(built: BuiltImage) -> Iterator[Resource]:
    """The lock's artefacts. Its requirements are those of the file whose sha256 stands among the inputs."""
    architecture = built.target.architecture
    for name, component in built.target.variant.components.items():
        digest = {}
        sha256 = component.artefact_sha256(architecture)
        if sha256 and sha256 != UNVERIFIED:
            digest["sha256"] = sha256
        if component.source == "git" and component.commit:
            digest["gitCommit"] = component.commit
        yield Resource(
            name=f"{name} {component.version}",
            uri=f"git+{component.repository}@{component.commit}"
            if component.source == "git"
            else str(purl_of(name, component)),
            digest=digest or None,
            annotations={"source": component.source}
            | ({"sha256": UNVERIFIED} if sha256 == UNVERIFIED else {}),
        )
