"""ATen ops through torch-npu against the same calls on the CPU: all that src/emucann/ops has for them."""

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional as F

FLOATS = (torch.float32, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32)
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 2e-2}


def inputs(dtype: torch.dtype) -> SimpleNamespace:
    """The operands of all cases, on the CPU. Integers lie in [-9, 9], positive ones in [1, 9]."""
    generator = torch.Generator().manual_seed(1)

    def normal(*sizes: int) -> torch.Tensor:
        if dtype.is_floating_point:
            return torch.randn(*sizes, generator=generator).to(dtype)
        return torch.randint(-9, 10, sizes, generator=generator).to(dtype)

    def integers(low: int, high: int, *sizes: int) -> torch.Tensor:
        return torch.randint(low, high, sizes, generator=generator)

    return SimpleNamespace(
        x=normal(4, 6),
        y=normal(4, 6),
        wide=normal(2, 5, 6),
        row=normal(6),
        square=normal(5, 5),
        image=normal(2, 3, 8, 8),
        positive=(normal(4, 6).abs() + 1),
        unit=(torch.rand(4, 6, generator=generator) * 0.9 + 0.05).to(dtype),
        distinct=torch.randperm(24, generator=generator).view(4, 6).to(dtype),
        mask=torch.rand(4, 6, generator=generator) > 0.5,
        rows=integers(0, 4, 5),
        columns=integers(0, 6, 4, 6),
        some=torch.tensor([0, 2]),
        nan=torch.tensor([0.5, math.nan, math.inf, -math.inf]).to(dtype)
        if dtype.is_floating_point
        else normal(4),
    )


Case = Callable[[SimpleNamespace], object]


def names(*ops: str, of: str = "x") -> dict[str, Case]:
    """Cases of unary ops by torch's names."""
    return {op: lambda t, op=op: getattr(torch, op)(getattr(t, of)) for op in ops}


def in_place(*ops: str, of: str = "x") -> dict[str, Case]:
    """Cases of unary in-place methods."""
    return {f"{op}_": lambda t, op=op: getattr(getattr(t, of).clone(), f"{op}_")() for op in ops}


def activations(*ops: str) -> dict[str, Case]:
    """Cases of torch.nn.functional's activations."""
    return {op: lambda t, op=op: getattr(F, op)(t.x) for op in ops}


#: Of floats and of integers.
ARITHMETIC: dict[str, Case] = {
    **names("abs", "neg", "sign", "square", "isfinite", "isinf", "isnan", "logical_not"),
    **in_place("abs", "neg", "zero"),
    "add": lambda t: t.x + t.y,
    "add_alpha": lambda t: torch.add(t.x, t.y, alpha=2),
    "add_scalar": lambda t: t.x + 3,
    "add_": lambda t: t.x.clone().add_(t.y).add_(2),
    "add_broadcast": lambda t: t.x + t.row,
    "sub": lambda t: t.x - t.y,
    "sub_scalar": lambda t: t.x - 3,
    "sub_": lambda t: t.x.clone().sub_(t.y).sub_(2),
    "rsub": lambda t: 3 - t.x,
    "mul": lambda t: t.x * t.y,
    "mul_scalar": lambda t: t.x * 3,
    "mul_": lambda t: t.x.clone().mul_(t.y).mul_(2),
    "mul_strided": lambda t: t.x.t() * t.y.t(),
    "div": lambda t: t.x / t.positive,
    "div_scalar": lambda t: t.x / 4,
    "div_floor": lambda t: torch.div(t.x, t.positive, rounding_mode="floor"),
    "div_trunc": lambda t: torch.div(t.x, t.positive, rounding_mode="trunc"),
    "div_floor_scalar": lambda t: torch.div(t.x, 2, rounding_mode="floor"),
    "floor_divide": lambda t: t.x // t.positive,
    "remainder": lambda t: torch.remainder(t.x, t.positive),
    "remainder_scalar": lambda t: t.x % 2,
    "remainder_of_scalar": lambda t: torch.remainder(7, t.positive),
    "fmod": lambda t: torch.fmod(t.x, t.positive),
    "fmod_scalar": lambda t: torch.fmod(t.x, 2),
    "pow_two": lambda t: t.x**2,
    "clamp": lambda t: t.x.clamp(-1, 1),
    "clamp_min": lambda t: t.x.clamp(min=0),
    "clamp_max": lambda t: t.x.clamp(max=0),
    "clamp_tensor": lambda t: torch.clamp(t.x, -t.positive, t.positive),
    "maximum": lambda t: torch.maximum(t.x, t.y),
    "minimum": lambda t: torch.minimum(t.x, t.y),
    "eq": lambda t: t.x == t.y,
    "ne_scalar": lambda t: t.x != 0,
    "lt": lambda t: t.x < t.y,
    "le_scalar": lambda t: t.x <= 1,
    "gt": lambda t: t.x > t.y,
    "ge_scalar": lambda t: t.x >= 1,
    "logical_and": lambda t: torch.logical_and(t.x, t.y),
    "logical_or": lambda t: torch.logical_or(t.x, t.y),
    "logical_xor": lambda t: torch.logical_xor(t.x, t.y),
    "where": lambda t: torch.where(t.mask, t.x, t.y),
    "where_scalar": lambda t: torch.where(t.mask, t.x, 0),
    "masked_fill": lambda t: t.x.masked_fill(t.mask, 2),
    "masked_fill_tensor": lambda t: t.x.clone().masked_fill_(t.mask, t.row[0]),
    "addcmul": lambda t: torch.addcmul(t.x, t.y, t.positive, value=2),
    "isin": lambda t: torch.isin(t.x, t.row),
    "isin_scalar": lambda t: torch.isin(t.x, 2),
    "equal": lambda t: torch.tensor([torch.equal(t.x, t.x), torch.equal(t.x, t.y)]),
    "allclose": lambda t: torch.tensor([torch.allclose(t.x, t.x), torch.allclose(t.x, t.y)]),
    "to_float": lambda t: t.x.float(),
    "to_long": lambda t: (t.x * 3).long(),
    "to_bool": lambda t: t.x.bool(),
    "to_int8": lambda t: t.x.to(torch.int8),
    "fill_": lambda t: t.x.clone().fill_(3),
    "fill_tensor": lambda t: t.x.clone().fill_(t.row[1]),
}

REDUCTIONS: dict[str, Case] = {
    "sum": lambda t: t.x.sum(),
    "sum_dim": lambda t: t.wide.sum((0, 2)),
    "sum_keep": lambda t: t.x.sum(1, keepdim=True),
    "prod": lambda t: t.row.prod(),
    "prod_dim": lambda t: t.x.prod(1),
    "max": lambda t: t.x.max(),
    "min": lambda t: t.x.min(),
    "max_dim": lambda t: t.distinct.max(1),
    "min_dim": lambda t: t.distinct.min(0, keepdim=True),
    "amax": lambda t: t.wide.amax((0, 1)),
    "amin": lambda t: t.x.amin(1),
    "aminmax": lambda t: torch.aminmax(t.x),
    "argmax": lambda t: t.distinct.argmax(),
    "argmax_dim": lambda t: t.distinct.argmax(1),
    "argmin": lambda t: t.distinct.argmin(1),
    "all": lambda t: t.mask.all(),
    "all_dim": lambda t: t.x.bool().all(1),
    "any": lambda t: t.mask.any(),
    "any_dim": lambda t: t.mask.any(0),
    "count_nonzero": lambda t: torch.count_nonzero(t.mask),
    "cumsum": lambda t: t.x.cumsum(1),
    "cumsum_first": lambda t: t.x.cumsum(0),
    "cumprod": lambda t: t.x.cumprod(1),
    "cummax": lambda t: t.distinct.cummax(1),
    "cummin": lambda t: t.distinct.cummin(1),
    "median": lambda t: t.distinct.median(),
    "median_dim": lambda t: t.distinct.median(1),
    "kthvalue": lambda t: t.distinct.kthvalue(2, 1),
    "diff": lambda t: t.x.diff(dim=1),
}

MOVEMENT: dict[str, Case] = {
    "cat": lambda t: torch.cat([t.x, t.y], 1),
    "cat_dtypes": lambda t: torch.cat([t.x.float(), t.y.float()]),
    "stack": lambda t: torch.stack([t.x, t.y], 1),
    "split": lambda t: [part.contiguous() for part in t.x.split(2, 1)],
    "chunk": lambda t: [part.contiguous() for part in t.x.chunk(3, 1)],
    "repeat": lambda t: t.x.repeat(2, 3),
    "tile": lambda t: t.x.tile(2),
    "expand": lambda t: t.x[:, None].expand(4, 3, 6).contiguous(),
    "flip": lambda t: t.x.flip(0, 1),
    "roll": lambda t: t.x.roll(1, 1),
    "roll_flat": lambda t: t.x.roll(2),
    "permute": lambda t: t.wide.permute(2, 0, 1).contiguous(),
    "transpose": lambda t: t.x.t().contiguous(),
    "clone_strided": lambda t: t.x[:, ::2].clone(),
    "copy_into_slice": lambda t: t.x.clone()[:, 1:4].copy_(t.y[:, 2:5]),
    "unfold": lambda t: t.x.unfold(1, 3, 2).contiguous(),
    "pad": lambda t: F.pad(t.x, (1, 2), value=7),
    "tril": lambda t: t.square.tril(),
    "triu": lambda t: t.square.triu(1),
    "tril_": lambda t: t.square.clone().tril_(-1),
    "diag": lambda t: t.row.diag(),
    "repeat_interleave": lambda t: t.x.repeat_interleave(2, 0),
    "repeat_interleave_tensor": lambda t: t.row.repeat_interleave(t.columns[0]),
    "index_rows": lambda t: t.x[t.rows],
    "index_both": lambda t: t.x[t.rows, t.columns[0, :5]],
    "index_columns": lambda t: t.x[:, t.columns[0]],
    "index_mask": lambda t: t.x[t.mask],
    "index_row_mask": lambda t: t.x[t.mask[:, 0]],
    "setitem": lambda t: t.x.clone().index_put_((t.some,), t.y[:2]),
    "setitem_mask": lambda t: t.x.clone().index_put_((t.mask,), t.row[0]),
    "index_select": lambda t: t.x.index_select(1, t.columns[0]),
    "index_add": lambda t: t.x.index_add(1, t.some, t.y[:, :2]),
    "index_copy": lambda t: t.x.index_copy(1, t.some, t.y[:, :2]),
    "index_fill": lambda t: t.x.index_fill(1, t.some, 3),
    "index_put_accumulate": lambda t: t.x.index_put((t.some * 0,), t.y[:2], accumulate=True),
    "gather": lambda t: t.x.gather(1, t.columns),
    "take": lambda t: t.x.take(t.columns),
    "take_along_dim": lambda t: t.x.take_along_dim(t.columns, 1),
    "put": lambda t: t.x.put(t.some, t.row[:2]),
    "scatter": lambda t: t.x.scatter(1, t.columns.argsort(1), t.y),
    "scatter_value": lambda t: t.x.scatter(1, t.columns, 2),
    "scatter_": lambda t: t.x.clone().scatter_(1, t.columns.argsort(1), t.y),
    "scatter_add": lambda t: t.x.scatter_add(1, t.columns, t.y),
    "masked_select": lambda t: t.x.masked_select(t.mask),
    "masked_scatter": lambda t: t.x.masked_scatter(t.mask, t.y),
    "embedding": lambda t: F.embedding(t.columns % 4, t.x),
    "nonzero": lambda t: torch.nonzero(t.mask),
    "nonzero_tuple": lambda t: torch.nonzero(t.x, as_tuple=True),
    "argwhere": lambda t: torch.argwhere(t.x > 0),
    "topk": lambda t: t.distinct.topk(3, 1),
    "topk_smallest": lambda t: t.distinct.topk(2, 0, largest=False),
    "sort": lambda t: t.distinct.sort(1),
    "sort_descending": lambda t: t.distinct.sort(0, descending=True),
    "sort_stable": lambda t: torch.sort(t.columns.to(t.x.dtype), dim=1, stable=True),
    "argsort": lambda t: t.distinct.argsort(1),
    "searchsorted": lambda t: torch.searchsorted(t.row.sort().values, t.x),
    "searchsorted_right": lambda t: torch.searchsorted(t.row.sort().values, t.row, right=True),
    "bucketize": lambda t: torch.bucketize(t.x, t.row.sort().values),
    "unique": lambda t: torch.unique(t.columns.to(t.x.dtype)),
    "unique_all": lambda t: torch.unique(t.columns.to(t.x.dtype), return_inverse=True, return_counts=True),
    "unique_dim": lambda t: torch.unique(t.x[t.rows], dim=0, return_inverse=True, return_counts=True),
    "unique_consecutive": lambda t: torch.unique_consecutive(
        t.columns.flatten().sort().values.to(t.x.dtype), return_inverse=True, return_counts=True
    ),
    "zeros_like": lambda t: torch.zeros_like(t.x),
    "ones_like": lambda t: torch.ones_like(t.x),
    "full_like": lambda t: torch.full_like(t.x, 7),
    "arange": lambda t: torch.arange(2, 20, 3, dtype=t.x.dtype, device=t.x.device),
    "eye": lambda t: torch.eye(3, 4, dtype=t.x.dtype, device=t.x.device),
    "empty_tensors": lambda t: torch.cat([t.x[:0], t.y[:0]]) + t.row,
    "item": lambda t: torch.tensor(t.x[1, 2].item()),
}

FLOAT_ONLY: dict[str, Case] = {
    **names(
        "ceil", "floor", "round", "trunc", "frac", "exp", "expm1", "exp2", "sin", "cos", "tan", "atan", "sinh"
    ),
    **names("cosh", "tanh", "asinh", "sigmoid", "erf", "erfc", "sinc", "relu", "angle", "signbit"),
    **names("log", "log1p", "log2", "log10", "sqrt", "rsqrt", "reciprocal", "acosh", of="positive"),
    **names("asin", "acos", "atanh", "erfinv", of="unit"),
    **in_place("exp", "floor", "round", "sigmoid", "tanh", "relu", "cos", "sin"),
    **in_place("sqrt", "rsqrt", "log", "reciprocal", of="positive"),
    **activations(
        "silu", "gelu", "mish", "softplus", "elu", "leaky_relu", "hardswish", "hardsigmoid", "hardtanh"
    ),
    **activations("relu6", "selu", "celu", "glu", "logsigmoid", "softsign"),
    "prelu": lambda t: F.prelu(t.x, t.row[:1].abs()),
    "threshold": lambda t: F.threshold(t.x, 0.1, 1.0),
    "pow": lambda t: t.positive**t.y,
    "pow_scalar": lambda t: t.positive**1.5,
    "pow_of_scalar": lambda t: 2.0**t.x,
    "pow_": lambda t: t.positive.clone().pow_(2.5),
    "atan2": lambda t: torch.atan2(t.x, t.y),
    "logaddexp": lambda t: torch.logaddexp(t.x, t.y),
    "xlogy": lambda t: torch.xlogy(t.x, t.positive),
    "isclose": lambda t: torch.isclose(t.x, t.x + 1e-9 * t.y),
    "is_not_a_number": lambda t: torch.stack([t.nan.isnan(), t.nan.isinf(), t.nan.isfinite()]),
    "nan_to_num": lambda t: torch.nan_to_num(t.nan, nan=1.0, posinf=2.0, neginf=-2.0),
    "nansum": lambda t: t.nan[:2].nansum(),
    "mul_nan": lambda t: t.nan * t.row[:4],
    "lerp": lambda t: torch.lerp(t.x, t.y, 0.3),
    "lerp_tensor": lambda t: torch.lerp(t.x, t.y, t.unit),
    "addcdiv": lambda t: torch.addcdiv(t.x, t.y, t.positive, value=2),
    "mean": lambda t: t.x.mean(),
    "mean_dim": lambda t: t.wide.mean((0, 2), keepdim=True),
    "var": lambda t: t.x.var(),
    "var_dim": lambda t: t.x.var(1, correction=0),
    "var_mean": lambda t: torch.var_mean(t.x, 1),
    "std": lambda t: t.x.std(),
    "std_mean": lambda t: torch.std_mean(t.x, 1),
    "norm": lambda t: t.x.norm(),
    "norm_one": lambda t: t.x.norm(1),
    "norm_dim": lambda t: torch.linalg.vector_norm(t.x, dim=1),
    "normalize": lambda t: F.normalize(t.x),
    "logsumexp": lambda t: torch.logsumexp(t.x, 1),
    "softmax": lambda t: F.softmax(t.x, -1),
    "softmax_first": lambda t: F.softmax(t.wide, 0),
    "softmax_float": lambda t: F.softmax(t.x, -1, dtype=torch.float32),
    "log_softmax": lambda t: F.log_softmax(t.x, -1),
    "mm": lambda t: t.x @ t.y.t(),
    "mm_strided": lambda t: t.x.t() @ t.y,
    "bmm": lambda t: torch.bmm(t.wide, t.wide.transpose(1, 2)),
    "matmul_broadcast": lambda t: t.wide @ t.x.t(),
    "mv": lambda t: t.x @ t.row,
    "dot": lambda t: torch.dot(t.row, t.row),
    "outer": lambda t: torch.outer(t.row, t.row),
    "addmm": lambda t: torch.addmm(t.row[:4], t.x, t.y.t(), beta=2, alpha=3),
    "addmv": lambda t: torch.addmv(t.row[:4], t.x, t.row, beta=2, alpha=3),
    "baddbmm": lambda t: torch.baddbmm(t.square[None], t.wide, t.wide.transpose(1, 2)),
    "linear": lambda t: F.linear(t.x, t.y, t.row[:4]),
    "linear_batched": lambda t: F.linear(t.wide, t.y),
    "einsum": lambda t: torch.einsum("bsd,ed->bse", t.wide, t.x),
    "layer_norm": lambda t: F.layer_norm(t.x, (6,)),
    "layer_norm_affine": lambda t: F.layer_norm(t.wide, (6,), t.row, t.row),
    "group_norm": lambda t: F.group_norm(t.image, 3),
    "rms_norm": lambda t: F.rms_norm(t.x, (6,), t.row),
    "dropout_none": lambda t: F.dropout(t.x, 0.5, training=False),
    "linspace": lambda t: torch.linspace(0, 1, 7, dtype=t.x.dtype, device=t.x.device),
    "arange_steps": lambda t: torch.arange(0, 2, 0.25, dtype=t.x.dtype, device=t.x.device),
}

#: What has no low-precision form worth a comparison, on the NPU or on the CPU.
FLOAT32_ONLY: dict[str, Case] = {
    "cosine_similarity": lambda t: F.cosine_similarity(t.x, t.y),
    "cross": lambda t: torch.linalg.cross(t.x[:, :3], t.y[:, :3]),
    "inverse": lambda t: torch.inverse(t.square + 5 * torch.eye(5, device=t.x.device)),
    "trace": lambda t: t.square.trace(),
    "histc": lambda t: torch.histc(t.x, 5, -1, 1),
    "quantile": lambda t: torch.quantile(t.x, 0.3),
    "conv1d": lambda t: F.conv1d(t.wide, t.square[:, :, None], padding=0),
    "conv2d": lambda t: F.conv2d(t.image, t.image[:, :, :3, :3], t.row[:2], stride=2, padding=1),
    "batch_norm": lambda t: F.batch_norm(t.image, t.row[:3], t.row[3:].abs() + 1),
    "pad_reflect": lambda t: F.pad(t.image, (1, 1, 1, 1), mode="reflect"),
    "pad_replicate": lambda t: F.pad(t.wide, (1, 1), mode="replicate"),
    "one_hot": lambda t: F.one_hot(t.columns, 6),
    "bincount": lambda t: torch.bincount(t.columns.flatten(), minlength=9),
    "mse_loss": lambda t: F.mse_loss(t.x, t.y),
    "l1_loss": lambda t: F.l1_loss(t.x, t.y, reduction="none"),
    "smooth_l1_loss": lambda t: F.smooth_l1_loss(t.x, t.y),
    "cross_entropy": lambda t: F.cross_entropy(t.x, t.columns[:, 0]),
    "nll_loss_weighted": lambda t: F.nll_loss(t.x, t.columns[:, 0], t.row.abs(), reduction="sum"),
    "binary_cross_entropy": lambda t: F.binary_cross_entropy(t.unit, t.unit.flip(0)),
    "binary_cross_entropy_logits": lambda t: F.binary_cross_entropy_with_logits(t.x, t.unit),
    "kl_div": lambda t: F.kl_div(F.log_softmax(t.x, 1), F.softmax(t.y, 1), reduction="batchmean"),
    "complex": lambda t: torch.complex(t.x, t.y),
    "complex_mul": lambda t: torch.complex(t.x, t.y) * torch.complex(t.y, t.x),
    "complex_mul_scalar": lambda t: torch.complex(t.x, t.y) * 2j,
    "polar": lambda t: torch.polar(t.positive, t.y),
    "view_as_real": lambda t: torch.view_as_real(torch.complex(t.x, t.y)),
}

INTEGER_ONLY: dict[str, Case] = {
    "bitwise_and": lambda t: t.x & t.y,
    "bitwise_and_scalar": lambda t: t.x & 3,
    "bitwise_or": lambda t: t.x | t.y,
    "bitwise_xor": lambda t: t.x ^ t.y,
    "bitwise_not": lambda t: ~t.x,
    "bitwise_not_bool": lambda t: ~t.mask,
    "shift_left": lambda t: t.x << 2,
    "shift_left_tensor": lambda t: t.x << t.positive,
    "shift_right": lambda t: t.x >> 1,
    "mean_of_floats": lambda t: t.x.float().mean(),
    "true_division": lambda t: t.x / t.positive,
}

GROUPS: list[tuple[Mapping[str, Case], tuple[torch.dtype, ...]]] = [
    (ARITHMETIC, FLOATS + INTEGERS),
    (REDUCTIONS, FLOATS + INTEGERS),
    (MOVEMENT, FLOATS + INTEGERS),
    (FLOAT_ONLY, FLOATS),
    (FLOAT32_ONLY, (torch.float32,)),
    (INTEGER_ONLY, INTEGERS),
]

CASES = [
    pytest.param(case, dtype, id=f"{name}-{str(dtype).removeprefix('torch.')}")
    for cases, dtypes in GROUPS
    for name, case in cases.items()
    for dtype in dtypes
]


def tensors(result: object) -> list[torch.Tensor]:
    return [result] if isinstance(result, torch.Tensor) else list(result)


@pytest.mark.parametrize(("case", "dtype"), CASES)
def test_op(case: Case, dtype: torch.dtype):
    here = inputs(dtype)
    there = SimpleNamespace(**{name: tensor.npu() for name, tensor in vars(here).items()})
    expected, actual = tensors(case(here)), tensors(case(there))
    assert len(actual) == len(expected)
    for on_npu, on_cpu in zip(actual, expected, strict=True):
        tolerance = (
            TOLERANCE.get(on_cpu.dtype, 1e-5) if on_cpu.is_floating_point() or on_cpu.is_complex() else 0
        )
        torch.testing.assert_close(on_npu.cpu(), on_cpu, rtol=tolerance, atol=tolerance, equal_nan=True)
    for name, tensor in vars(there).items():
        torch.testing.assert_close(
            tensor.cpu(), getattr(here, name), rtol=0, atol=0, equal_nan=True, msg=f"{name} was changed"
        )


def test_the_table_is_what_it_says():
    assert len(CASES) > 1000
    assert len({case.values[0] for case in CASES}) > 250


def test_a_wrong_result_is_noticed():
    here = inputs(torch.float32)
    with pytest.raises(AssertionError):
        torch.testing.assert_close((here.x.npu() + here.y.npu()).cpu(), here.x + here.y + 1e-3)
