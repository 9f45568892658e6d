"""The arithmetic of published figures. Numbers are Decimals, so that printed digits stay what they are."""

from collections.abc import Sequence
from decimal import Decimal
from statistics import median as _median


def last_digit(value: Decimal) -> int:
    """The power of ten of the last digit that a finite number is written with: -2 for 8.60."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


def half_unit(value: Decimal) -> Decimal:
    """Half a unit of the last digit that is printed: 0.005 for 8.61 and for 8.60, 0.5 for 86."""
    return Decimal((0, (5,), last_digit(value) - 1))


def change_percent(value: Decimal, against: Decimal) -> Decimal:
    """How much more than `against` the value is, in per cent; less is negative."""
    return (value / against - 1) * 100


def share_percent(part: Decimal, whole: Decimal) -> Decimal:
    """The part in per cent of the whole."""
    return part / whole * 100


def median(runs: Sequence[Decimal]) -> Decimal:
    """The middle one of the runs; of an even number the mean of the middle two."""
    return _median(runs)


def selected_layers(layers: int, group_size: int, num_in_group: int) -> tuple[int, ...]:
    """The layers whose weights are offloaded: the last `num_in_group` of each group of `group_size`.

    A last group that is not whole has those that it reaches. A group size of 0 is off. Source: vLLM 0.18.0,
    the description of `offload_group_size` in vllm/config/offload.py; (8, 2) gives 6, 7, 14, 15, 22, 23, ...
    """
    if group_size == 0:
        return ()
    return tuple(layer for layer in range(layers) if layer % group_size >= group_size - num_in_group)


def decoder_layer_weights(
    *, hidden: int, intermediate: int, heads: int, kv_heads: int, head_size: int
) -> int:
    """How many weights a decoder layer of Qwen2 has.

    Attention with biases on q, k and v, a gated MLP, two norms. Source: Qwen2DecoderLayer of Transformers;
    for Qwen2.5-1.5B these are 46,797,824.
    """
    q, kv = heads * head_size, kv_heads * head_size
    attention = (hidden * q + q) + 2 * (hidden * kv + kv) + q * hidden
    return attention + 3 * hidden * intermediate + 2 * hidden


def requests_per_second(
    concurrency: Decimal, output_tokens: Decimal, first_token: Decimal, each_token: Decimal
) -> Decimal:
    """Requests that end in a second, by Little's law.

    Times are seconds, to the first token and for each further one. While all slots are taken:
    a run's start and end, where some are empty, make its own figure a little smaller.
    """
    return concurrency / (first_token + (output_tokens - 1) * each_token)
