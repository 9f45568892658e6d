"""Checks of real torch-npu on the emulator: run by the environment's pytest (see ../test_torch_npu.py)."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _nothing_pending():
    """Each check starts from one seed and ends with a device that has nothing to complain about."""
    torch.manual_seed(0)
    torch.npu.set_device(0)
    yield
    for device in range(torch.npu.device_count()):
        torch.npu.synchronize(device)
