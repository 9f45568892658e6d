"""What the suites share. Like them it imports nothing of npu_assay: the environment's Python runs it."""
