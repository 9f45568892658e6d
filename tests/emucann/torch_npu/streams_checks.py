"""Streams and events: what is asynchronous is, and what is ordered is."""

import ctypes

import pytest
import torch

_RUNTIME = ctypes.CDLL("libascendcl.so")
_RUNTIME.emucann_stall_stream.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
_RUNTIME.emucann_version.restype = ctypes.c_char_p


def stall(stream: torch.npu.Stream, milliseconds: int) -> None:
    """Make a stream pause, as if a long kernel ran on it."""
    assert _RUNTIME.emucann_stall_stream(stream.npu_stream, milliseconds * 1000) == 0


def test_the_runtime_says_that_it_is_emulated():
    assert _RUNTIME.emucann_version().startswith(b"EMULATED ")


def test_a_stream_runs_while_the_caller_goes_on():
    stream = torch.npu.Stream()
    stall(stream, 200)
    with torch.npu.stream(stream):
        tensor = torch.zeros(4, device="npu")
        tensor.fill_(7)
        event = torch.npu.Event()
        event.record()
    assert not event.query()
    assert not stream.query()
    event.synchronize()
    assert event.query()
    stream.synchronize()
    assert stream.query()
    assert tensor.tolist() == [7.0] * 4


def test_another_stream_goes_on_meanwhile():
    blocked, free = torch.npu.Stream(), torch.npu.Stream()
    stall(blocked, 300)
    done = torch.npu.Event()
    done.record(blocked)
    with torch.npu.stream(free):
        assert torch.ones(3, device="npu").sum().item() == 3
    assert not done.query()
    done.synchronize()


@pytest.mark.parametrize("wait", ["wait_event", "wait_stream"])
def test_a_stream_waits_for_another(wait: str):
    producer, consumer = torch.npu.Stream(), torch.npu.Stream()
    data = torch.zeros(1000, device="npu")
    torch.npu.synchronize()
    stall(producer, 100)
    with torch.npu.stream(producer):
        data.fill_(5)
        event = torch.npu.Event()
        event.record()
    if wait == "wait_event":
        consumer.wait_event(event)
    else:
        consumer.wait_stream(producer)
    with torch.npu.stream(consumer):
        copied = data.clone()
    consumer.synchronize()
    assert torch.equal(copied.cpu(), torch.full((1000,), 5.0))


def test_a_missing_wait_shows():
    """The same without the wait reads too early: what an emulator that runs at once could not show."""
    producer, consumer = torch.npu.Stream(), torch.npu.Stream()
    data = torch.zeros(1000, device="npu")
    torch.npu.synchronize()
    stall(producer, 500)
    with torch.npu.stream(producer):
        data.fill_(5)
    with torch.npu.stream(consumer):
        copied = data.clone()
    consumer.synchronize()
    assert torch.equal(copied.cpu(), torch.zeros(1000))


def test_events_tell_the_time_between_them():
    begin, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    stream = torch.npu.Stream()
    begin.record(stream)
    torch.npu.synchronize()  # the stall goes past torch-npu's task queue: let the record go first
    stall(stream, 50)
    end.record(stream)
    end.synchronize()
    assert begin.elapsed_time(end) >= 50


def test_device_synchronisation_waits_for_all_streams():
    streams = [torch.npu.Stream() for _ in range(3)]
    tensors = []
    for number, stream in enumerate(streams):
        stall(stream, 50)
        with torch.npu.stream(stream):
            tensors.append(torch.full((10,), number, device="npu"))
    torch.npu.synchronize()
    assert all(stream.query() for stream in streams)
    assert [tensor[0].item() for tensor in tensors] == [0, 1, 2]


def test_a_copy_to_pinned_memory_does_not_block():
    stream = torch.npu.Stream()
    source = torch.ones(1000, device="npu")
    target = torch.zeros(1000, pin_memory=True)
    torch.npu.synchronize()
    stall(stream, 200)
    with torch.npu.stream(stream):
        target.copy_(source, non_blocking=True)
        event = torch.npu.Event()
        event.record()
    assert not event.query()
    assert target.sum() == 0
    event.synchronize()
    assert target.sum() == 1000


def test_freed_memory_is_not_reused_while_another_stream_uses_it():
    side = torch.npu.Stream()
    tensor = torch.full((1 << 16,), 3.0, device="npu")
    side.wait_stream(torch.npu.current_stream())
    torch.npu.synchronize()
    stall(side, 100)
    with torch.npu.stream(side):
        copied = tensor.clone()
        tensor.record_stream(side)
    del tensor
    overwriting = torch.zeros(1 << 16, device="npu")
    side.synchronize()
    assert copied.sum().item() == 3.0 * (1 << 16)
    assert overwriting.sum().item() == 0
