"""Devices and copies between them. Needs EMUCANN_DEVICES=2."""

import pytest
import torch


def test_devices_are_counted_and_named():
    assert torch.npu.is_available()
    assert torch.npu.device_count() == 2
    assert [torch.npu.get_device_name(device) for device in range(2)] == ["Ascend910B3"] * 2
    properties = torch.npu.get_device_properties(1)
    assert properties.name == "Ascend910B3"
    assert properties.total_memory == 256 << 20
    assert (properties.cube_core_num, properties.vector_core_num) == (20, 40)


def test_the_current_device_changes():
    assert torch.npu.current_device() == 0
    with torch.npu.device(1):
        assert torch.npu.current_device() == 1
        assert torch.zeros(1, device="npu").device.index == 1
    assert torch.npu.current_device() == 0
    with pytest.raises(RuntimeError):
        torch.npu.set_device(2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(1000),
        lambda: torch.randn(33, 7),
        lambda: torch.randn(8, 8)[:, ::2],
        lambda: torch.zeros(0, 3),
        lambda: torch.tensor(3.5),
    ],
    ids=["long", "float", "strided", "empty", "scalar"],
)
def test_copies_between_devices_and_the_host(make):
    sent = make()
    zero = sent.to("npu:0")
    one = zero.to("npu:1")
    assert (zero.device.index, one.device.index) == (0, 1)
    assert torch.equal(one.cpu(), sent)
    back = torch.empty_like(sent)
    back.copy_(one)
    assert torch.equal(back, sent)
    again = torch.empty_like(zero)
    again.copy_(one)
    assert torch.equal(again.cpu(), sent)


def test_work_of_two_devices_is_ordered_by_events():
    zero = torch.zeros(1000, device="npu:0")
    one = torch.zeros(1000, device="npu:1")
    for _ in range(50):
        zero.add_(1)
        one.copy_(zero, non_blocking=True)
        one.mul_(1)
        zero.copy_(one, non_blocking=True)
    assert torch.equal(zero.cpu(), torch.full((1000,), 50.0))
