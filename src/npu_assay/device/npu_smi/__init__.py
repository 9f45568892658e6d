"""What `npu-smi` prints, read by header and key. One module a subcommand; `recognise` tells them apart.

The layouts differ by chip and driver. Columns and keys are read by name wherever they stand; an unknown
header, a row that does not fit it and an output that was cut short are errors that quote the line, never a
guess.
Shapes: npu-smi's reference (Atlas A2, Atlas 200I A2, Atlas 300I Pro), and outputs in public issues.
"""
