"""Small site-packages folders as pip leaves them, for tests that plant faults in them."""

import base64
import hashlib
import shutil
from pathlib import Path

from npu_assay.environment.drift.look import Look, Mend
from npu_assay.environment.lock import OF_CANN
from npu_assay.environment.requirements import read_pins
from npu_assay.environment.variant import Variant
from npu_assay.project import ADAPTATIONS

DRIVER = "triton/backends/ascend/driver.py"
#: Files of distributions that mean something to what is tested; all others have one module.
FILES = {
    "triton-ascend": {
        "triton/__init__.py": "",
        DRIVER: "def load(): ...\n",
        "triton/backends/ascend/npu_utils.cpp": "static int load();\n",
    },
    "vllm": {"vllm/__init__.py": "", "vllm/plugins/resolver.py": ""},
    "vllm-ascend": {"vllm_ascend/__init__.py": "", "vllm_ascend/vllm_ascend_C.so": "binary"},
}
ENTRY_POINTS = {
    "vllm": "[vllm.general_plugins]\nresolver = vllm.plugins.resolver:register\n",
    "vllm-ascend": "[vllm.platform_plugins]\nascend = vllm_ascend:register\n",
}


def add(site: Path, name: str, version: str, files: dict[str, str], entry_points: str = "") -> Path:
    """Install a distribution; returns its dist-info folder."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    files = {**files, f"{info.name}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"}
    if entry_points:
        files[f"{info.name}/entry_points.txt"] = entry_points
    rows = []
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(text)}\n")
    (info / "RECORD").write_text("".join(rows) + f"{info.name}/RECORD,,\n")
    return info


def remove(site: Path, name: str) -> None:
    """Uninstall a distribution as pip does: every file of its RECORD goes, whoever else has it."""
    for info in site.glob(f"{name.replace('-', '_')}-[0-9]*.dist-info"):
        for row in (info / "RECORD").read_text().splitlines():
            (site / row.split(",")[0]).unlink(missing_ok=True)
        shutil.rmtree(info)


def install(site: Path, variant: Variant) -> None:
    """Everything of a variant, as its lock says, with this checkout's plug-in."""
    wanted = {pin.name: pin.version for pin in read_pins(variant.lock.requirements_file)}
    wanted |= {name: version for name, version in variant.versions.items() if name not in OF_CANN}
    for name, version in wanted.items():
        module = {f"{name.replace('-', '_')}/__init__.py": f"# {name}\n"}
        add(site, name, version, FILES.get(name, module), ENTRY_POINTS.get(name, ""))
    add(site, "vllm-ascend-params", "0.1.0", {})
    shutil.copytree(ADAPTATIONS / "vllm_ascend_params", site / "vllm_ascend_params")


def look_at(site: Path, variant: Variant, *, again: str | None = None) -> Look:
    """A look at it; without `again`, as at somebody's own venv."""
    return Look(
        variant=variant,
        site_packages=site,
        mend=Mend(Path("/venv/bin/python"), again, again),
        python_version=variant.lock.content.python,
    )
