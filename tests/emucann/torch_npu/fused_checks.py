"""Fused ops as vllm-ascend's dense path calls them, of CANN, ATB and its own, against formulas in float64."""

import math

import pytest
import torch
import torch_npu
import vllm_ascend.vllm_ascend_C  # noqa: F401  (registers torch.ops._C_ascend)

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def assert_close(actual: torch.Tensor, expected: torch.Tensor, factor: float = 1) -> None:
    tolerance = factor * TOLERANCE[actual.dtype]
    torch.testing.assert_close(actual.cpu().double(), expected.double(), rtol=tolerance, atol=tolerance)


def make(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*sizes).to(dtype)


def rms_norm(x: torch.Tensor, gamma: torch.Tensor, epsilon: float) -> torch.Tensor:
    x = x.double()
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon) * gamma.double()


@pytest.mark.parametrize("dtype", DTYPES)
class TestNormalization:
    def test_rms_norm(self, dtype: torch.dtype):
        x, gamma = make(5, 3, 64, dtype=dtype), make(64, dtype=dtype)
        y, rstd = torch_npu.npu_rms_norm(x.npu(), gamma.npu(), 1e-5)
        assert_close(y, rms_norm(x, gamma, 1e-5))
        assert_close(rstd.float(), torch.rsqrt(x.double().square().mean(-1, keepdim=True) + 1e-5))

    def test_add_rms_norm(self, dtype: torch.dtype):
        x, residual, gamma = make(5, 64, dtype=dtype), make(5, 64, dtype=dtype), make(64, dtype=dtype)
        y, _, total = torch_npu.npu_add_rms_norm(x.npu(), residual.npu(), gamma.npu(), 1e-6)
        assert torch.equal(total.cpu(), x + residual)
        assert_close(y, rms_norm(x + residual, gamma, 1e-6))

    @pytest.mark.parametrize("with_bias", [False, True])
    def test_vllm_ascends_add_rms_norm_bias(self, dtype: torch.dtype, with_bias: bool):
        x, residual, gamma = make(5, 64, dtype=dtype), make(5, 64, dtype=dtype), make(64, dtype=dtype)
        bias = make(64, dtype=dtype) if with_bias else None
        y, _, total = torch.ops._C_ascend.npu_add_rms_norm_bias(
            x.npu(), residual.npu(), gamma.npu(), bias.npu() if with_bias else None, 1e-6
        )
        assert torch.equal(total.cpu(), x + residual)
        expected = rms_norm(x + residual, gamma, 1e-6) + (bias.double() if with_bias else 0)
        assert_close(y, expected, factor=2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [-1, 1])
def test_swiglu(dtype: torch.dtype, dim: int):
    x = make(4, 6, 32, dtype=dtype)
    gate, up = x.double().chunk(2, dim)
    assert_close(torch_npu.npu_swiglu(x.npu(), dim=dim), gate * torch.sigmoid(gate) * up, factor=2)


def attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, seen: torch.Tensor, scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of one sequence: query [q, heads, dim], key and value [k, kv_heads, dim], seen [q, k] bool."""
    groups = query.shape[1] // key.shape[1]
    key, value = (t.double().repeat_interleave(groups, 1) for t in (key, value))
    scores = torch.einsum("qhd,khd->hqk", query.double(), key) * scale
    scores = scores.masked_fill(~seen, -math.inf)
    return torch.einsum("hqk,khd->qhd", scores.softmax(-1), value), scores.logsumexp(-1).t()


def causal(queries: int, keys: int) -> torch.Tensor:
    """Which keys a query sees when the last query is at the last key."""
    return torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)


#: What vllm-ascend passes with sparse_mode 3: a fixed upper triangle, whatever the lengths.
MASK = torch.ones(2048, 2048, dtype=torch.bool).triu(1)

HEADS, KV_HEADS, DIM, BLOCK = 8, 2, 32, 16
SCALE = DIM**-0.5


class Paged:
    """Sequences of given lengths in a paged cache, their blocks in no order."""

    def __init__(self, lengths: list[int], dtype: torch.dtype):
        self.lengths = lengths
        per_row = max(math.ceil(length / BLOCK) for length in lengths)
        blocks = torch.randperm(len(lengths) * per_row + 3)[: len(lengths) * per_row]
        self.table = blocks.view(len(lengths), per_row).int()
        self.keys = make(len(blocks) + 3, BLOCK, KV_HEADS, DIM, dtype=dtype)
        self.values = make(len(blocks) + 3, BLOCK, KV_HEADS, DIM, dtype=dtype)

    def dense(self, sequence: int) -> tuple[torch.Tensor, torch.Tensor]:
        row = self.table[sequence].long()
        return tuple(cache[row].flatten(0, 1)[: self.lengths[sequence]] for cache in (self.keys, self.values))


@pytest.mark.parametrize("dtype", DTYPES)
class TestFusedInferAttention:
    def test_packed_prefill_over_dense_keys(self, dtype: torch.dtype):
        lengths = [5, 1, 12]
        ends = torch.tensor(lengths).cumsum(0).tolist()
        query = make(ends[-1], HEADS, DIM, dtype=dtype)
        key, value = (make(ends[-1], KV_HEADS, DIM, dtype=dtype) for _ in range(2))
        out, lse = torch_npu.npu_fused_infer_attention_score(
            query.npu(),
            key.npu(),
            value.npu(),
            atten_mask=MASK.npu(),
            input_layout="TND",
            actual_seq_lengths=ends,
            actual_seq_lengths_kv=ends,
            num_heads=HEADS,
            num_key_value_heads=KV_HEADS,
            scale=SCALE,
            sparse_mode=3,
            softmax_lse_flag=True,
        )
        for begin, end in zip([0, *ends], ends, strict=False):
            part = slice(begin, end)
            expected, sums = attention(
                query[part], key[part], value[part], causal(end - begin, end - begin), SCALE
            )
            assert_close(out[part], expected)
            torch.testing.assert_close(
                lse[part].squeeze(-1).cpu().double(), sums, rtol=1e-4, atol=TOLERANCE[dtype]
            )

    @pytest.mark.parametrize("queries", [[1, 1, 1], [4, 1, 17]], ids=["decode", "chunked"])
    def test_packed_over_a_paged_cache(self, dtype: torch.dtype, queries: list[int]):
        cache = Paged([37, 1, 64], dtype)
        ends = torch.tensor(queries).cumsum(0).tolist()
        query = make(ends[-1], HEADS, DIM, dtype=dtype)
        queries = [min(count, length) for count, length in zip(queries, cache.lengths, strict=True)]
        ends = torch.tensor(queries).cumsum(0).tolist()
        query = query[: ends[-1]]
        out, _ = torch_npu.npu_fused_infer_attention_score(
            query.npu(),
            cache.keys.flatten(2).npu(),
            cache.values.flatten(2).npu(),
            atten_mask=MASK.npu(),
            block_table=cache.table.npu(),
            input_layout="TND",
            block_size=BLOCK,
            actual_seq_lengths=ends,
            actual_seq_lengths_kv=cache.lengths,
            num_heads=HEADS,
            num_key_value_heads=KV_HEADS,
            scale=SCALE,
            sparse_mode=3,
        )
        for index, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
            key, value = cache.dense(index)
            seen = causal(end - begin, len(key))
            assert_close(out[begin:end], attention(query[begin:end], key, value, seen, SCALE)[0])

    @pytest.mark.parametrize("layout", ["BSH", "BNSD", "BSND"])
    def test_batched_layouts(self, dtype: torch.dtype, layout: str):
        query = make(2, 6, HEADS, DIM, dtype=dtype)
        key, value = (make(2, 9, KV_HEADS, DIM, dtype=dtype) for _ in range(2))
        forms = {
            "BSH": lambda t: t.flatten(2),
            "BNSD": lambda t: t.transpose(1, 2).contiguous(),
            "BSND": lambda t: t,
        }
        form = forms[layout]
        out, _ = torch_npu.npu_fused_infer_attention_score(
            form(query).npu(),
            form(key).npu(),
            form(value).npu(),
            input_layout=layout,
            num_heads=HEADS,
            num_key_value_heads=KV_HEADS,
            scale=SCALE,
        )
        seen = torch.ones(6, 9, dtype=torch.bool)
        expected = torch.stack([attention(query[i], key[i], value[i], seen, SCALE)[0] for i in range(2)])
        assert_close(out, form(expected))

    def test_a_window_in_a_decode(self, dtype: torch.dtype):
        cache, window = Paged([40, 12], dtype), 10
        query = make(2, 1, HEADS * DIM, dtype=dtype)
        out, _ = torch_npu.npu_fused_infer_attention_score(
            query.npu(),
            cache.keys.flatten(2).npu(),
            cache.values.flatten(2).npu(),
            block_table=cache.table.npu(),
            input_layout="BSH",
            block_size=BLOCK,
            pre_tokens=window,
            actual_seq_lengths=[1, 1],
            actual_seq_lengths_kv=cache.lengths,
            num_heads=HEADS,
            num_key_value_heads=KV_HEADS,
            scale=SCALE,
        )
        for index, length in enumerate(cache.lengths):
            key, value = cache.dense(index)
            seen = (torch.arange(length) >= length - 1 - window)[None]
            expected = attention(query[index].view(1, HEADS, DIM), key, value, seen, SCALE)[0]
            assert_close(out[index].view(1, HEADS, DIM), expected)

    def test_scaled_dot_product_attention(self, dtype: torch.dtype):
        query = make(2, HEADS, 6, DIM, dtype=dtype)
        key, value = (make(2, HEADS, 6, DIM, dtype=dtype) for _ in range(2))
        mask = torch.rand(6, 6) > 0.3
        mask.fill_diagonal_(True)
        for options in ({}, {"is_causal": True}, {"attn_mask": mask}):
            on_npu = {
                name: option.npu() if torch.is_tensor(option) else option for name, option in options.items()
            }
            call = torch.nn.functional.scaled_dot_product_attention
            assert_close(
                call(query.npu(), key.npu(), value.npu(), **on_npu),
                call(query.double(), key.double(), value.double(), **options),
            )


def test_attention_over_lengths_that_are_not_there_is_refused():
    cache = Paged([20, 20], torch.float32)

    def call(lengths: list[int], table: torch.Tensor, ends: list[int]) -> None:
        torch_npu.npu_fused_infer_attention_score(
            make(2, HEADS, DIM).npu(),
            cache.keys.flatten(2).npu(),
            cache.values.flatten(2).npu(),
            atten_mask=MASK.npu(),
            block_table=table.npu(),
            input_layout="TND",
            block_size=BLOCK,
            actual_seq_lengths=ends,
            actual_seq_lengths_kv=lengths,
            num_heads=HEADS,
            num_key_value_heads=KV_HEADS,
            scale=SCALE,
            sparse_mode=3,
        )
        torch.npu.synchronize()

    call([20, 20], cache.table, [1, 2])
    for lengths, table, ends, words in (
        ([20, 33], cache.table, [1, 2], "sequence 1 has 33 tokens, its block table row has room for 32"),
        ([20, 20], cache.table[:1], [1, 2], "no row for sequence 1"),
        ([20, 20], cache.table, [1, 3], "rows 1 to 3 of 2"),
        ([20, 20], cache.table + 100, [1, 2], "is not in a cache of"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call(lengths, table, ends)


@pytest.mark.parametrize("dtype", DTYPES)
class TestAtb:
    @pytest.mark.parametrize("neox", [True, False])
    def test_rotary_embedding(self, dtype: torch.dtype, neox: bool):
        tokens, size = 7, 32
        positions = torch.randint(0, 50, (tokens,))
        angles = torch.rand(50, size // 2) * 6
        table = torch.cat([angles.cos(), angles.sin()], -1).to(dtype)
        query, key = make(tokens, 4 * size, dtype=dtype), make(tokens, 2 * size, dtype=dtype)
        rotated = [query.npu(), key.npu()]
        torch_npu._npu_rotary_embedding(positions.npu(), rotated[0], rotated[1], size, table.npu(), neox)
        cos, sin = table[positions].double().unsqueeze(1).chunk(2, -1)
        for before, after in zip((query, key), rotated, strict=True):
            heads = before.double().view(tokens, -1, size)
            a, b = heads.chunk(2, -1) if neox else (heads[..., ::2], heads[..., 1::2])
            pair = (a * cos - b * sin, b * cos + a * sin)
            expected = torch.cat(pair, -1) if neox else torch.stack(pair, -1).flatten(-2)
            assert_close(after.view(tokens, -1, size), expected)

    def test_reshape_and_cache(self, dtype: torch.dtype):
        keys, values = (torch.zeros(4, BLOCK, KV_HEADS, DIM, dtype=dtype) for _ in range(2))
        key, value = (make(5, KV_HEADS, DIM, dtype=dtype) for _ in range(2))
        slots = torch.tensor([3, 63, 16, -1, 17]).int()
        cache = [keys.npu(), values.npu()]
        torch_npu._npu_reshape_and_cache(key.npu(), value.npu(), *cache, slots.npu())
        for plain, rows, written in zip((keys, values), (key, value), cache, strict=True):
            for row, slot in zip(rows, slots.tolist(), strict=True):
                if slot >= 0:
                    plain[slot // BLOCK, slot % BLOCK] = row
            assert torch.equal(written.cpu(), plain)

    @pytest.mark.parametrize("lengths_on", ["cpu", "npu"])
    def test_paged_attention(self, dtype: torch.dtype, lengths_on: str):
        cache = Paged([37, 1, 64], dtype)
        query = make(3, HEADS, DIM, dtype=dtype)
        out = torch.zeros_like(query, device="npu")
        torch_npu._npu_paged_attention(
            query=query.npu(),
            key_cache=cache.keys.npu(),
            value_cache=cache.values.npu(),
            num_kv_heads=KV_HEADS,
            num_heads=HEADS,
            scale_value=SCALE,
            block_table=cache.table.npu(),
            context_lens=torch.tensor(cache.lengths).int().to(lengths_on),
            out=out,
        )
        for index, length in enumerate(cache.lengths):
            seen = torch.ones(1, length, dtype=torch.bool)
            expected = attention(query[index : index + 1], *cache.dense(index), seen, SCALE)[0]
            assert_close(out[index : index + 1], expected)

    def test_matmul_add_fp32(self, dtype: torch.dtype):
        x, weight, total = make(6, 4, dtype=dtype), make(6, 5, dtype=dtype), make(4, 5)
        on_npu = total.npu()
        torch_npu._npu_matmul_add_fp32(x.npu(), weight.npu(), on_npu)
        assert_close(on_npu, total.double() + x.double().t() @ weight.double(), factor=10)


class TestVllmAscend:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_apply_top_k_top_p(self, dtype: torch.dtype):
        logits = make(4, 100, dtype=dtype)
        k, p = torch.tensor([1, 5, 100, 20]).int(), torch.tensor([1.0, 1.0, 0.5, 0.3]).to(dtype)
        out = torch.ops._C_ascend.npu_apply_top_k_top_p(logits.npu(), k=k.npu(), p=p.npu()).cpu()
        for row in range(4):
            order = logits[row].float().sort(descending=True, stable=True).indices[: int(k[row])]
            shares = logits[row, order].float().softmax(-1)
            kept = order[shares.cumsum(-1) - shares < float(p[row])]
            expected = torch.full((100,), -math.inf, dtype=dtype)
            expected[kept] = logits[row, kept]
            assert torch.equal(out[row].isinf().sum(), expected.isinf().sum()), row
            assert torch.equal(out[row].sort().values, expected.sort().values), row

    def test_top_k_alone_and_top_p_alone(self):
        logits = torch.tensor([[1.0, 4.0, 2.0, 3.0]])
        only_k = torch.ops._C_ascend.npu_apply_top_k_top_p(
            logits.npu(), k=torch.tensor([2]).int().npu(), p=None
        )
        assert only_k.cpu().isinf().tolist() == [[True, False, True, False]]
        only_p = torch.ops._C_ascend.npu_apply_top_k_top_p(logits.npu(), k=None, p=torch.tensor([0.7]).npu())
        assert only_p.cpu().isinf().tolist() == [[True, False, True, False]]

    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
    def test_swap_blocks(self, dtype: torch.dtype):
        host = torch.randint(-100, 100, (6, BLOCK, KV_HEADS, DIM)).to(dtype).pin_memory()
        device = torch.zeros(8, BLOCK, KV_HEADS, DIM, dtype=dtype, device="npu")
        pairs = torch.tensor([[0, 7], [5, 2], [3, 0]])
        torch.ops._C_ascend.swap_blocks(host, device, pairs)
        torch.npu.synchronize()
        expected = torch.zeros(8, BLOCK, KV_HEADS, DIM, dtype=dtype)
        expected[pairs[:, 1]] = host[pairs[:, 0]]
        assert torch.equal(device.cpu(), expected)
        back = torch.zeros_like(host).pin_memory()
        torch.ops._C_ascend.swap_blocks(device, back, pairs.flip(1))
        torch.npu.synchronize()
        assert torch.equal(back[pairs[:, 0]], host[pairs[:, 0]])
        assert not back[[1, 2, 4]].any()
