"""Where the checkout's own files are. npu-assay runs from its checkout (the launcher installs it editable)."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ENVIRONMENTS = ROOT / "ci" / "environments"
EMUCANN = ROOT / "src" / "emucann"
ADAPTATIONS = ROOT / "src" / "vllm_ascend_params"
