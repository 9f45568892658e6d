"""What can be wrong with npu-smi's output.

A parser raises nothing else: `UnknownLayoutError` for a text that it does not know, and a `NpuSmiError` where
npu-smi itself said that it failed. A failure is never "no devices". A text that was cut short is read as far
as it goes, and comes with a `CutShort`, unless nothing is left to read.
"""

import re

from npu_assay.device.npu_smi.cut import CutShort
from npu_assay.errors import UnusableError, UsageError

_DCMI = re.compile(r"\bret is (-\d+)")
_LIBRARY = re.compile(r"(\S+\.so[.\d]*): cannot open shared object file")
_NO_TOOL = re.compile(r"\bnpu-smi: (?:command )?not found|npu-smi: No such file or directory")
_NO_DEVICE = re.compile(r"\bno such device\b", re.IGNORECASE)
#: A key and its value, or a row of a table: what stands there is a value, whatever it says.
_VALUE = re.compile(r"\s*[A-Z][\w ()%/-]*\s*:|\s*[|+]")

#: Characters of a line that an error quotes; npu-smi's own lines are shorter.
_QUOTED = 300


class UnknownLayoutError(UsageError):
    """A text that no parser knows; quotes the line that it stopped at."""

    def __init__(self, source: str, line: str, expected: str) -> None:
        found = " ".join(line[:_QUOTED].split())
        super().__init__(f"{source}: unknown npu-smi layout: expected {expected}, found {found!r}")


class NpuSmiError(UnusableError):
    """npu-smi did not answer; `advice` says what to do."""

    def __init__(self, source: str, problem: str, advice: str) -> None:
        super().__init__(f"{source}: {problem}; {advice}")
        self.problem = problem
        self.advice = advice


class DriverFailureError(NpuSmiError):
    """npu-smi ran, but DCMI, the driver's management interface, did not.

    -8005 is "module initialize failed", -8020 "because the device is used"; public reports of both come from
    containers (vllm-ascend#632, vllm-ascend#2698, ascend-device-plugin#23, cann-container-image#46).
    """

    def __init__(self, source: str, line: str, code: int) -> None:
        match code:
            case -8020:
                advice = (
                    "another container or process holds the device: end it, or give this container devices "
                    "of its own; in a container, source ~/.bashrc so that the driver's libraries are found"
                )
            case -8005:
                advice = (
                    "the driver can't be reached: give the container --device /dev/davinci<N> "
                    "--device /dev/davinci_manager --device /dev/devmm_svm --device /dev/hisi_hdc and mount "
                    "/usr/local/Ascend/driver; on the host, check that the driver is loaded"
                )
            case _:
                advice = "look the code up in the DCMI reference, and in dmesg for the driver's own words"
        super().__init__(source, f"npu-smi could not reach the driver: {line.strip()!r}", advice)
        self.code = code


class MissingLibraryError(NpuSmiError):
    """The loader did not find a library of the driver (HAMi#615, vllm-ascend#1440)."""

    def __init__(self, source: str, library: str) -> None:
        advice = (
            "mount /usr/local/Ascend/driver and add its lib64/common and lib64/driver: "
            "export LD_LIBRARY_PATH=/usr/local/Ascend/driver/lib64/common:"
            "/usr/local/Ascend/driver/lib64/driver:$LD_LIBRARY_PATH"
        )
        super().__init__(source, f"npu-smi does not start: {library} is not found", advice)
        self.library = library


class MissingToolError(NpuSmiError):
    """There is no npu-smi."""

    def __init__(self, source: str, problem: str) -> None:
        advice = (
            "install the driver; in a container, mount /usr/local/bin/npu-smi and /usr/local/Ascend/driver"
        )
        super().__init__(source, problem, advice)


class NoSuchDeviceError(NpuSmiError):
    """npu-smi was asked for a device that is not there, or the driver has none."""

    def __init__(self, source: str, line: str) -> None:
        super().__init__(
            source, f"no such device: {line.strip()!r}", "`npu-smi info -m` lists the devices that are there"
        )


class CutShortError(NpuSmiError):
    """A live npu-smi ended before its end: what it did not come to say may be what matters."""

    def __init__(self, source: str, cut: CutShort) -> None:
        super().__init__(
            source, f"npu-smi's output is {cut}", "ask again; if it stays so, look into dmesg for the driver"
        )
        self.cut = cut


class NoAnswerError(NpuSmiError):
    """npu-smi hung."""

    def __init__(self, source: str, seconds: float) -> None:
        advice = "the driver or the device hangs: look into dmesg, then reset the NPU or restart the host"
        super().__init__(source, f"no answer within {seconds:g} s", advice)


class EmptyOutputError(NpuSmiError):
    """npu-smi said nothing at all: no evidence of anything."""

    def __init__(self, source: str) -> None:
        super().__init__(source, "npu-smi's output is empty", "ask again, and keep stderr with it")


def failure_in(text: str, source: str) -> NpuSmiError | None:
    """The failure that a text reports, or None. Values in tables and after keys are no reports."""
    if not text.strip():
        return EmptyOutputError(source)
    for line in text.splitlines():
        if _VALUE.match(line):
            continue
        if code := _DCMI.search(line):
            return DriverFailureError(source, line, int(code[1][:9]))
        if library := _LIBRARY.search(line):
            return MissingLibraryError(source, library[1])
        if _NO_TOOL.search(line):
            return MissingToolError(source, f"there is no npu-smi: {line.strip()!r}")
        if _NO_DEVICE.search(line):
            return NoSuchDeviceError(source, line)
    return None
