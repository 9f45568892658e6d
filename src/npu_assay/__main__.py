"""`python -m npu_assay` is `npu-assay`."""

from npu_assay.cli import main

main()
