"""What `run` says of the image that it is in."""

from collections.abc import Mapping

from rich.console import Console

from npu_assay.environment.lock import DEVICE_WORD
from npu_assay.environment.variant import Variant
from npu_assay.errors import UsageError
from npu_assay.evidence.image import DIGEST_VARIABLE, ImageRecord, image_of_run
from npu_assay.project import IMAGE


def own_image(variables: Mapping[str, str], variant: Variant) -> ImageRecord | None:
    """The image, None outside of one. Raises UsageError as `image_of_run`, and for another's environment."""
    image = image_of_run(variables, IMAGE)
    wanted = variant.lock.name, DEVICE_WORD[variant.kind]
    if image is not None and (image.lock, image.device) != wanted:
        raise UsageError(
            f"this image has {image.lock} for --device {image.device}, and the run is to be in {wanted[0]}"
            f" for {wanted[1]}; use the image of that environment"
        )
    return image


def say_image(console: Console, image: ImageRecord | None) -> None:
    """One line about which image it is; none outside of one."""
    if image is None:
        return
    digest = f"digest not given; {DIGEST_VARIABLE} takes it" if image.digest is None else str(image.digest)
    console.print(f"image: {image.name}, {digest}", highlight=False, markup=False, soft_wrap=True)
