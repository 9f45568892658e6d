"""What is looked for in an image for an NPU, where there is none; and what stands in for one."""

import json
from collections.abc import Sequence
from pathlib import Path

from engine import Engine
from planted_ascend import driver_info

from npu_assay.device.needs import NEEDS
from npu_assay.docker.dockerfile import steps_in

#: The steps in the order of their layers.
STEPS = [
    "system",
    "cann",
    "nnal",
    "python",
    "torch",
    "triton",
    "vllm",
    "lmcache",
    "vllm-ascend",
    "adaptations",
]
IMPORTS = ("python", "-c", "import torch_npu, vllm, vllm_ascend; print(torch_npu.cann)")


def layers(engine: Engine, image: str) -> list[tuple[str, int]]:
    """The command of each layer and its size in bytes, the first one first."""
    form = ("--no-trunc", "--human=false", "--format", "{{json .}}")
    rows = map(json.loads, engine.docker("history", *form, image).stdout.splitlines())
    return [(row["CreatedBy"], int(row["Size"])) for row in rows][::-1]


def steps_of(commands: Sequence[str]) -> list[str]:
    """What these commands install, in their order."""
    return [step for line in commands for step in steps_in(line)]


def plant_driver(folder: Path, where: str = "/usr/local/Ascend") -> list[str]:
    """Options of docker run that give a container of one die all that it needs, its driver below `where`."""
    files = {
        f"{where}/driver/lib64/driver/libascend_hal.so": "",
        f"{where}/driver/version.info": driver_info("25.5.1"),
        "/usr/local/dcmi/libdcmi.so": "",
        "/usr/local/bin/npu-smi": "#!/bin/sh\n",
        "/etc/ascend_install.info": f"Driver_Install_Path_Param={where}\nDriver_Install_Status=complete\n",
    }
    for name, text in files.items():
        path = folder / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    options = ["--device", "/dev/null:/dev/davinci0"]
    for need in NEEDS:
        if need.required and need.applies("910b", 1):
            target = need.target(f"{where}/driver")
            is_node = need.kind == "device"
            option = f"/dev/null:{target}" if is_node else f"{folder}{target}:{target}:ro"
            options += ["--device" if is_node else "-v", option]
    return options


def said_missing(stderr: str) -> list[str]:
    """The options of docker run that the entry point asks for."""
    lines = [line for line in stderr.splitlines() if line.startswith("entrypoint: no ")]
    return [line.partition("docker run needs ")[2] for line in lines]


def all_missing() -> list[str]:
    """Those that it asks for where nothing is given."""
    needs = [need for need in NEEDS if need.required and need.applies("910b", 1)]
    options = [" ".join(need.option("/usr/local/Ascend/driver")) for need in needs]
    return ["--device /dev/davinciN of each die to use", *options]


def check_speaks_of_the_npu(engine: Engine, image: str, environment: str) -> None:
    """`env show` and `doctor` in the image are about the NPU's variant, installed, though no NPU is there."""
    shown = engine.run(image, "env", "show", options=["--network", "none"]).stdout
    assert "variant: hardware (--device npu)" in shown
    assert shown.splitlines()[-1] == "state   installed"
    doctor = engine.run(image, "doctor", options=["--network", "none"], check=False)
    assert doctor.returncode == 1
    assert "to mend, first: no NPU here" in doctor.stderr
    assert doctor.stdout.splitlines()[0] == f"{environment} on an NPU"
    assert "is not installed" not in doctor.stdout
