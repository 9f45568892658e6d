"""Differences in triton-ascend: who else owns its package, and whether it was edited."""

from collections.abc import Iterator

from npu_assay.diagnosis import Level
from npu_assay.environment import triton_edit
from npu_assay.environment.drift.difference import Difference
from npu_assay.environment.drift.look import Look
from npu_assay.environment.tritons import OTHERS, must_be_without_limit


def others(look: Look) -> Iterator[Difference]:
    """Another distribution of the package triton, which breaks triton-ascend by coming and by going."""
    wanted = look.variant.component("triton-ascend")
    for name in OTHERS:
        for other in look.distributions.get(name, ()):
            yield Difference(
                check="other-triton",
                level=Level.PROBLEM,
                subject=name,
                found=other.version,
                message=(
                    f"{name} {other.version} is installed beside triton-ascend, and both own the package"
                    f" triton; removing {name} alone takes triton-ascend's files with it"
                ),
                advice=look.mend.triton(wanted),
            )


def edit(look: Look) -> Iterator[Difference]:
    """set_device_limit in one of the files that triton-ascend compiles at run time.

    What counts is what is in the files: the version stays the same (triton-ascend e8c161c28).
    """
    there = look.one("triton-ascend")
    if there is None or not must_be_without_limit(there.version):
        return
    found: list[str] = []
    for known in triton_edit.EDITS:
        try:
            content = (look.site_packages / known.path).read_bytes()
        except OSError:
            continue  # gone files are told by files.py
        if triton_edit.LEFT_OVERS.search(content):
            found.append(known.path)
    if found:
        yield Difference(
            check="triton-edit",
            level=Level.PROBLEM,
            subject="triton-ascend",
            expected="no set_device_limit",
            found="set_device_limit",
            message=(
                f"triton-ascend {there.version} is not patched: {', '.join(found)} still has"
                " set_device_limit, which does not compile with the headers of CANN 9.0.0 B250"
            ),
            advice=look.mend.edit(),
        )
