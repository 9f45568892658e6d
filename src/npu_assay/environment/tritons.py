"""What triton-ascend of a version must be like, and what must not be beside it."""

from packaging.version import Version

from npu_assay.environment import triton_edit

#: Distributions that bring a package `triton` of their own, into the folder of triton-ascend's.
OTHERS = ("triton", "pytorch-triton", "triton-nightly")


def is_edited_here(version: str) -> bool:
    """Whether npu-assay edits this version: the one whose files triton_edit knows."""
    return Version(version) == Version(triton_edit.VERSION)


def must_be_without_limit(version: str) -> bool:
    """Whether set_device_limit must not be in it.

    3.2.0 is edited so, later releases are so themselves. A development build before 3.2.0, such as
    3.2.0.dev20260322, has the function and ran with it on CANN 8.5.1, whose headers still have its names.
    """
    return Version(version) >= Version(triton_edit.VERSION)
