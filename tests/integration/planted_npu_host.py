"""A host with NPUs as far as it can be planted: nodes, npu-smi, and a CANN that calls itself 9.0.0 B250.

The CANN is the emulated one with other version files: processes load it, compute, and say that it is
emulated. So a run on this host goes all the way of one on an NPU, up to the stage that asks the loaded
library, and no further.
"""

import platform
import shutil
from pathlib import Path

from npu_smi_texts import process
from planted_npu_smi import a2_answers, plant_npu_smi

BUILD = "V100R001C10SPC001B250"
_ARCH = f"{platform.machine()}-linux"
_DRIVER = """\
Version=25.5.1
ascendhal_version=7.35.23
Innerversion=V100R001C23SPC006B220
compatible_version=[V100R001C10],[V100R001C22],[V100R001C23]
package_version=25.5.1
"""
#: CANN logs into the folder that it is told, and the emulated one does not. Python imports this at its start.
_LOGGER = """\
import os, pathlib, sys
folder = os.environ.get("ASCEND_PROCESS_LOG_PATH")
if folder and "versions_and_paths.py" in " ".join(sys.orig_argv):
    place = pathlib.Path(folder, "debug", "plog")
    place.mkdir(parents=True, exist_ok=True)
    (place / f"plog-{os.getpid()}_1.log").write_text("[ERROR] RUNTIME: planted\\n")
"""


class PlantedNpuHost:
    """Eight 910B3; somebody uses the first one."""

    def __init__(self, folder: Path, emulated_tree: Path) -> None:
        self.dev, self.root = folder / "dev", folder / "Ascend"
        self.dev.mkdir(parents=True)
        for name in (
            *(f"davinci{number}" for number in range(8)),
            "davinci_manager",
            "devmm_svm",
            "hisi_hdc",
        ):
            (self.dev / name).touch()
        shutil.copytree(emulated_tree, self.root, symlinks=True)
        self.tools = plant_npu_smi(
            self.root / "driver" / "tools", a2_answers(range(8), busy={0: process(0, 4711)})
        )
        self.locks = folder / "locks"
        self._relabel()
        (self.root / "cann/python/site-packages/sitecustomize.py").write_text(_LOGGER)

    @property
    def variables(self) -> dict[str, str]:
        """What a shell on this host has set, beside PATH; and how many devices its CANN emulates."""
        return {
            "ASCEND_HOME_PATH": str(self.root / "cann"),
            "NPU_ASSAY_LOCKS": str(self.locks),
            "EMUCANN_DEVICES": "8",
        }

    def _relabel(self) -> None:
        toolkit = self.root / "cann" / _ARCH / "ascend_toolkit_install.info"
        text = toolkit.read_text().replace("[EMULATED]", "[V100R001C23],[V100R001C10]")
        text = text.replace("EMULATED", BUILD)
        toolkit.write_text(text)
        (toolkit.parent / "ascend_ops_install.info").write_text(text.replace("cann-toolkit", "cann-910b-ops"))
        atb = self.root / "nnal/atb/9.0.0/version.info"
        atb.write_text(atb.read_text().replace("EMULATED", "B160"))
        (self.root / "driver/version.info").write_text(_DRIVER)
