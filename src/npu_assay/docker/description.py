"""What an image says of itself, from the arguments of its build, which BuildKit gives as variables.

The Dockerfile's last layer runs `python -m npu_assay.docker.description >image.json`.
"""

import os
import platform
import sys
from collections.abc import Mapping
from typing import cast

from npu_assay.docker.targets import image_targets
from npu_assay.environment.lock import load_lock
from npu_assay.errors import AssayError, UsageError
from npu_assay.evidence.image import ImageKind, ImageRecord, target_name


def description(arguments: Mapping[str, str], machine: str) -> ImageRecord:
    """The record of an image that is built with these arguments. Raises UsageError where none is."""
    lock, cann, device = (arguments[name] for name in ("LOCK", "CANN", "DEVICE"))
    name = target_name(lock, cann, machine)
    for target in image_targets([load_lock(lock)]):
        if (target.name, target.device) == (name, device):
            base = arguments["CANN_IMAGE" if cann == "image" else "BASE"]
            kind = cast(ImageKind, arguments["IMAGE"])  # which the model holds against its words
            return target.record(kind, base, arguments.get("REVISION") or None)
    raise UsageError(f"no image {name} for --device {device} is made of {lock}; see docker/docker-bake.hcl")


if __name__ == "__main__":
    try:
        print(description(os.environ, platform.machine()).model_dump_json(indent=2))
    except AssayError as error:
        sys.exit(f"npu-assay: {error}")
