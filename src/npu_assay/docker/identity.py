"""Which image a name stands for on this host, as `docker image inspect` says it."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from npu_assay.docker.client import ask
from npu_assay.errors import UnusableError
from npu_assay.evidence.image import ImageDigest


@dataclass(frozen=True)
class ImageIdentity:
    """An image by name, and by what docker knows of it."""

    reference: str
    """As it was asked for."""
    digest: str | None
    """NAME@sha256:... where it came from a registry or went to one, else the id, sha256:...; docker takes
    either for a name. None where docker does not know it."""
    why: str = ""
    """Why not, in one line."""


class _Inspected(BaseModel):
    """What counts of the answer; `docker image inspect` has much more."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(alias="Id")
    repo_digests: tuple[str, ...] | None = Field(default=(), alias="RepoDigests")


_ANSWER = TypeAdapter(tuple[_Inspected])


def read_inspection(reference: str, answer: str | bytes) -> ImageIdentity:
    """The identity in an answer of `docker image inspect`. Raises ValueError for what is no such answer.

    Of several names in registries that of the reference is taken, else the first.
    """
    (image,) = _ANSWER.validate_json(answer)
    repository, _ = split_tag(reference)
    known = sorted(image.repo_digests or (), key=lambda one: one.partition("@")[0] != repository)
    digest = known[0] if known else image.id
    ImageDigest.read(digest)  # which `run` in the container will want
    return ImageIdentity(reference, digest)


def identify(reference: str) -> ImageIdentity:
    """The identity of a name; one with a digest has it already.

    What is wrong with docker, or with its answer, is a reason and never an error: the command that is made
    may be for another host.
    """
    try:
        ImageDigest.read(reference)
        return ImageIdentity(reference, reference)
    except ValueError:
        return inspected(reference)


def inspected(reference: str) -> ImageIdentity:
    """What docker says of an image that it has, likewise."""
    try:
        return read_inspection(reference, ask("image", "inspect", reference))
    except UnusableError as error:
        return ImageIdentity(reference, None, str(error))
    except ValueError:
        return ImageIdentity(reference, None, "docker's answer is in no form that is known")


def split_tag(name: str) -> tuple[str, str]:
    """A name without digest: what is before its tag, and the tag, empty where there is none.

    A colon after the last slash begins it.
    """
    head, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    return head + slash + last, tag
