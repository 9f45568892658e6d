"""Which image a name stands for on this host, as `docker image inspect` says it."""

import subprocess
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from npu_assay.evidence.image import ImageDigest

#: Seconds for a daemon that answers at all.
_TIMEOUT = 20


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
    known = sorted(image.repo_digests or (), key=lambda one: one.partition("@")[0] != _repository(reference))
    digest = known[0] if known else image.id
    ImageDigest.read(digest)  # which `run` in the container will want
    return ImageIdentity(reference, digest)


def identify(reference: str) -> ImageIdentity:
    """Ask docker. What is wrong with it, or with the answer, is a reason and never an error: the command
    that is made may be for another host."""
    try:
        ImageDigest.read(reference)
        return ImageIdentity(reference, reference)
    except ValueError:
        pass
    command = ["docker", "image", "inspect", reference]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except OSError as error:
        return ImageIdentity(reference, None, f"docker can't be run here ({error.strerror})")
    except subprocess.TimeoutExpired:
        return ImageIdentity(reference, None, f"docker did not answer in {_TIMEOUT} s")
    if done.returncode:
        said = done.stderr.strip().splitlines()
        return ImageIdentity(
            reference, None, f"docker: {said[-1] if said else f'exit code {done.returncode}'}"
        )
    try:
        return read_inspection(reference, done.stdout)
    except (ValidationError, ValueError):
        return ImageIdentity(reference, None, "docker's answer is in no form that is known")


def _repository(reference: str) -> str:
    """The name without tag: a colon after the last slash begins one."""
    head, slash, last = reference.rpartition("/")
    return head + slash + last.partition(":")[0]
