"""A lock without any requirement, for tests that need an environment but not its contents."""

import hashlib
from pathlib import Path

LOCK = """\
name = "small"
summary = "a small one"
python = "3.11.6"
disk_mib = 1

[requirements]
file = "small.requirements.txt"
sha256 = "{requirements}"
"""
COMPONENT = '\n[components.{name}]\nversion = "1.0"\nsource = "index"\nsha256 = {{ sdist = "{sha256}" }}\n'
B250 = "V100R001C10SPC001B250"
PROVIDED = """
[components.{name}]
version = "9.0.0"
build = "{build}"
source = "run-packages"
file = "{name}.run"
sha256 = {{ x86_64 = "unverified", aarch64 = "unverified" }}

[components.{name}.emulated]
version = "9.0.0"
build = "EMULATED"
source = "emulated"
"""


def write_small_lock(locks: Path) -> Path:
    """Write the small lock into a new folder of locks."""
    locks.mkdir()
    (locks / "small.requirements.txt").touch()
    text = LOCK.format(requirements=hashlib.sha256(b"").hexdigest())
    for name in ("torch", "torchvision", "torch-npu", "triton-ascend", "vllm", "vllm-ascend"):
        text += COMPONENT.format(name=name, sha256="0" * 64)
    for name, build in (("cann", B250), ("cann-ops", B250), ("nnal", "9.0.0.B250")):
        text += PROVIDED.format(name=name, build=build)
    (locks / "small.toml").write_text(text)
    return locks
