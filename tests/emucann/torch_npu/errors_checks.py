"""An error in an op raises at the next synchronisation, an absent op at the call. Both name the op."""

import pytest
import torch
import torch_npu

SYNCHRONISE = {
    "device": lambda tensor: torch.npu.synchronize(),
    "stream": lambda tensor: torch.npu.current_stream().synchronize(),
    "item": lambda tensor: tensor.sum().item(),
}


def fail_inside_an_op() -> None:
    """Gather with an index outside: only the kernel can find out."""
    source = torch.zeros(3, 4, device="npu")
    torch.gather(source, 1, torch.full((3, 1), 99, device="npu"))


@pytest.mark.parametrize("way", SYNCHRONISE)
def test_an_error_inside_an_op_raises_at_the_next_synchronisation(way: str):
    healthy = torch.ones(4, device="npu")
    SYNCHRONISE[way](healthy)
    fail_inside_an_op()
    with pytest.raises(RuntimeError, match="aclnnGather: index 99 is out of bounds"):
        SYNCHRONISE[way](healthy)
    SYNCHRONISE[way](healthy)
    assert healthy.cpu().tolist() == [1.0] * 4


def test_an_error_raises_at_a_copy_to_the_host(capfd: pytest.CaptureFixture[str]):
    """There torch-npu leaves CANN's message out of its exception and warns of it (CopyKernelOpApi.cpp)."""
    healthy = torch.ones(4, device="npu")
    assert healthy.cpu().tolist() == [1.0] * 4
    fail_inside_an_op()
    capfd.readouterr()
    with pytest.raises(RuntimeError, match="ACL stream synchronize failed"):
        healthy.cpu()
    assert "aclnnGather: index 99 is out of bounds" in capfd.readouterr().err
    assert healthy.cpu().tolist() == [1.0] * 4


def test_an_error_raises_at_its_streams_event():
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        fail_inside_an_op()
        event = torch.npu.Event()
        event.record()
    with pytest.raises(RuntimeError, match="aclnnGather"):
        event.synchronize()


def test_later_work_still_runs():
    fail_inside_an_op()
    tensor = torch.ones(4, device="npu")
    tensor.add_(1)
    with pytest.raises(RuntimeError, match="aclnnGather"):
        torch.npu.synchronize()
    assert tensor.cpu().tolist() == [2.0] * 4


def test_an_error_has_no_stack_trace_of_libtorch():
    fail_inside_an_op()
    with pytest.raises(RuntimeError) as caught:
        torch.npu.synchronize()
    (line,) = (line for line in str(caught.value).splitlines() if "aclnnGather" in line)
    assert line.strip().startswith("emucann: aclnnGather: ")
    assert "frame #" not in str(caught.value)


def test_an_atb_op_names_itself():
    cache = torch.zeros(2, 4, 1, 8, device="npu")
    rows = torch.ones(1, 1, 8, device="npu")
    torch_npu._npu_reshape_and_cache(rows, rows, cache, cache.clone(), torch.tensor([7], device="npu").int())
    torch.npu.synchronize()
    torch_npu._npu_reshape_and_cache(rows, rows, cache, cache.clone(), torch.tensor([8], device="npu").int())
    with pytest.raises(RuntimeError, match="_npu_reshape_and_cache: kv cache: slot 8 is not in a cache of 8"):
        torch.npu.synchronize()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (
            lambda x: torch_npu.npu_moe_gating_top_k_softmax(x, k=1),
            "MoeGatingTopKSoftmax",
        ),  # only an aclnn form
        (lambda x: torch.linalg.svd(x), "svd"),  # only a legacy form
        (lambda x: torch.nn.functional.max_pool2d(x[None, None], 2), "pool"),  # both, neither is there
    ],
    ids=["aclnn", "legacy", "both"],
)
def test_an_absent_op_raises_at_the_call(call, name: str, capfd: pytest.CaptureFixture[str]):
    tensor = torch.randn(4, 4, device="npu")
    torch.npu.synchronize()
    capfd.readouterr()
    with pytest.raises((RuntimeError, NotImplementedError), match=name):
        call(tensor)
    torch.npu.synchronize()
    out, err = capfd.readouterr()
    assert "emucann" not in out + err, "it raises, it does not print and go on"
    assert tensor.sum().item() == pytest.approx(tensor.cpu().sum().item(), rel=1e-5)
