"""What the suites share can be tested without an NPU; it is imported as the suites import it."""

import sys
from pathlib import Path

import npu_assay

sys.path.insert(0, str(Path(npu_assay.__file__).parent / "suites"))
