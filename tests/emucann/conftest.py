"""The files in torch_npu/ are for the environment's pytest (test_torch_npu.py): they import torch."""

collect_ignore = ["torch_npu"]
