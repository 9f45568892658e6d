"""npu-assay: build, test and prove a patched vLLM-Ascend."""

__version__ = "0.1.0"
