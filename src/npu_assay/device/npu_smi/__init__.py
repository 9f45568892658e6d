"""What `npu-smi` prints, read by header and key. One module a subcommand; `recognise` tells them apart.

The layouts differ by chip and driver. Columns and keys are read by name wherever they stand; an unknown
header and a row that does not fit it are errors that quote the line, never a guess. A table without a header
is read as the one layout that its rows have the shape of, and an output that was cut short as far as it goes;
both say so.
Shapes: npu-smi's reference (Atlas A2, Atlas 200I A2, Atlas 300I Pro), and outputs in public issues.
"""
