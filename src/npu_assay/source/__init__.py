"""The vllm-ascend that a run proves: where it comes from, its files, the patches on it, and their hashes."""
