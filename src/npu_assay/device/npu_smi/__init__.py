"""What `npu-smi` prints, read by header and key. One module a subcommand; `recognise` tells them apart.

The layouts differ by chip and driver. Each module names the ones that it knows; any other is an error that
quotes the line, never a guess. Shapes: npu-smi's reference for the Atlas A2, and outputs in public
vllm-ascend issues.
"""
