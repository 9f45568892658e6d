"""The corruptions, one module a family; `ALL` has them by family."""

from mutations.families import (
    archive_files,
    checksums,
    derived,
    environment,
    health,
    identity,
    image,
    kv_offload,
    manifest,
    pytest_runs,
    stages,
    static,
)
from mutations.mutation import Mutation

ALL: dict[str, tuple[Mutation, ...]] = {
    "archive files": archive_files.MUTATIONS,
    "checksums": checksums.MUTATIONS,
    "derived files": derived.MUTATIONS,
    "manifest": manifest.MUTATIONS,
    "environment": environment.MUTATIONS,
    "identity": identity.MUTATIONS,
    "image": image.MUTATIONS,
    "health": health.MUTATIONS,
    "static stages": static.MUTATIONS,
    "test stages": pytest_runs.MUTATIONS,
    "kv-offload": kv_offload.MUTATIONS,
    "stages": stages.MUTATIONS,
}
