"""NPUs: npu-smi parsers and health."""
