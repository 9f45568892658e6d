"""Where the checkout's own files are. The launcher installs npu-assay from it, editable."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: What the launcher installs of other people's, with hashes.
REQUIREMENTS = ROOT / "requirements.txt"

ENVIRONMENTS = ROOT / "ci" / "environments"
PIPELINES = ROOT / "ci" / "pipelines"
CLAIMS = ROOT / "ci" / "claims"
#: What an image says of itself; nowhere else.
IMAGE = ROOT / "image.json"
EMUCANN = ROOT / "src" / "emucann"
SUITES = ROOT / "src" / "npu_assay" / "suites"
ADAPTATIONS = ROOT / "src" / "vllm_ascend_params"
