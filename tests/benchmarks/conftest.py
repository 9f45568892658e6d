"""The benchmarks' modules are imported as their programs import them."""

import sys

from npu_assay.project import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
