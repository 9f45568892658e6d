// Fused attention: aclnnFusedInferAttentionScore in the forms that vllm-ascend's dense path uses.
#include "ops/kernels/attention.h"

#include "ops/op.h"

namespace {

using emucann::kernels::Cache;
using emucann::kernels::Heads;
using emucann::kernels::KeyValue;
using emucann::kernels::Masking;

struct Inputs {
  at::Tensor query;
  at::Tensor keys;
  at::Tensor values;
  at::Tensor mask;
  at::Tensor block_table;  // [batch, blocks] int32
  std::vector<std::int64_t>
      query_ends;  // TND: cumulative tokens; else tokens of each sequence, or empty for all
  std::vector<std::int64_t> key_lengths;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t sparse_mode = 0;
  std::int64_t window = 0;
  double scale = 1;
  std::string layout;
};

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error(what + " is not emulated"); }

// [blocks, block_size, kv_heads, dim] over a paged cache, which CANN takes as [blocks, block_size, kv_heads *
// dim] or [blocks, kv_heads, block_size, dim].
at::Tensor pages(const at::Tensor& cache, std::int64_t kv_heads) {
  if (cache.dim() == 3) return cache.view({cache.size(0), cache.size(1), kv_heads, cache.size(2) / kv_heads});
  if (cache.dim() == 4) return cache.transpose(1, 2);
  refuse("a paged cache of " + std::to_string(cache.dim()) + " dimensions");
}

// [batch, tokens, heads, dim] over a tensor of one of the batched layouts.
at::Tensor batched(const at::Tensor& t, const std::string& layout, std::int64_t heads) {
  if (layout == "BSH") return t.view({t.size(0), t.size(1), heads, t.size(2) / heads});
  if (layout == "BSND") return t;
  if (layout == "BNSD") return t.transpose(1, 2);
  if (layout == "SBH") return t.view({t.size(0), t.size(1), heads, t.size(2) / heads}).transpose(0, 1);
  refuse("attention layout " + layout);
}

// Sparse modes (CANN's aclnnFusedInferAttentionScore document): 0 the mask as it is, 2 causal aligned to the
// begin, 3 to the end, 4 a band of pre_tokens before that diagonal.
Masking masking(const Inputs& in, std::int64_t sequence, std::int64_t queries, std::int64_t keys) {
  Masking result;
  switch (in.sparse_mode) {
    case 0:
      if (in.mask.defined()) {
        auto mask = in.mask;
        while (mask.dim() > 2) mask = mask.select(0, mask.size(0) > sequence ? sequence : 0);
        result.excluded = mask.slice(0, 0, queries).slice(1, 0, keys).to(at::kBool);
      }
      if (queries == 1 && in.window < std::numeric_limits<std::int32_t>::max()) result.window = in.window + 1;
      return result;
    case 2:
      result.excluded = at::ones({queries, keys}, at::TensorOptions().dtype(at::kBool)).triu(1);
      return result;
    case 3:
      result.causal = true;
      return result;
    case 4:
      result.causal = true;
      if (in.window < std::numeric_limits<std::int32_t>::max()) result.window = in.window + 1;
      return result;
    default:
      refuse("attention sparse_mode " + std::to_string(in.sparse_mode));
  }
}

// The cache's sequence of a block table's row.
KeyValue paged_sequence(const Inputs& in, const KeyValue& cache, const at::Tensor& table,
                        std::int64_t index) {
  if (index >= table.size(0)) {
    throw std::runtime_error("attention: the block table has no row for sequence " + std::to_string(index));
  }
  KeyValue sequence = cache;
  sequence.blocks = table.const_data_ptr<std::int32_t>() + index * table.stride(0);
  sequence.length = in.key_lengths.at(static_cast<std::size_t>(index));
  const auto room = table.size(1) * cache.keys.rows.rows;
  if (sequence.length > room) {
    throw std::runtime_error("attention: sequence " + std::to_string(index) + " has " +
                             std::to_string(sequence.length) + " tokens, its block table row has room for " +
                             std::to_string(room));
  }
  return sequence;
}

KeyValue dense_sequence(const KeyValue& all, std::int64_t begin, std::int64_t end) {
  KeyValue sequence;
  sequence.keys.rows = all.keys.rows.slice(begin, end);
  sequence.values.rows = all.values.rows.slice(begin, end);
  sequence.length = end - begin;
  return sequence;
}

KeyValue cache_of(const at::Tensor& keys, const at::Tensor& values) {
  KeyValue cache;
  cache.keys = Cache(keys);
  cache.values = Cache(values);
  return cache;
}

// [tokens of all sequences, heads, dim], one sequence after the other.
void attend_packed(const Inputs& in, const at::Tensor& table, const at::Tensor& out, const at::Tensor& lse) {
  const Heads queries(in.query);
  const Heads result(out);
  const KeyValue cache = table.defined()
                             ? cache_of(pages(in.keys, in.kv_heads), pages(in.values, in.kv_heads))
                             : cache_of(in.keys, in.values);
  std::int64_t begin = 0;
  std::int64_t key_begin = 0;
  for (std::size_t i = 0; i < in.query_ends.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const auto end = in.query_ends[i];
    const auto key_end = in.key_lengths.at(i);
    const KeyValue sequence =
        table.defined() ? paged_sequence(in, cache, table, index) : dense_sequence(cache, key_begin, key_end);
    if (end != begin) {
      emucann::kernels::attention(queries.slice(begin, end), sequence, in.scale,
                                  masking(in, index, end - begin, sequence.length), result.slice(begin, end),
                                  lse.defined() ? lse.slice(0, begin, end) : lse);
    }
    begin = end;
    key_begin = key_end;
  }
}

void attend_batched(const Inputs& in, const at::Tensor& table, const at::Tensor& out, const at::Tensor& lse) {
  const auto queries = batched(in.query, in.layout, in.heads);
  const auto result = batched(out, in.layout, in.heads);
  for (std::int64_t i = 0; i < queries.size(0); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto count = in.query_ends.empty() ? queries.size(1) : in.query_ends.at(at);
    KeyValue sequence;
    if (table.defined()) {
      const auto cache = cache_of(pages(in.keys, in.kv_heads), pages(in.values, in.kv_heads));
      sequence = paged_sequence(in, cache, table, i);
    } else {
      sequence = cache_of(batched(in.keys, in.layout, in.kv_heads)[i],
                          batched(in.values, in.layout, in.kv_heads)[i]);
      sequence.length = in.key_lengths.empty() ? sequence.keys.rows.rows : in.key_lengths.at(at);
    }
    emucann::kernels::attention(Heads(queries[i]).slice(0, count), sequence, in.scale,
                                masking(in, i, count, sequence.length), Heads(result[i]).slice(0, count),
                                lse.defined() ? lse[i].transpose(0, 1) : lse);
  }
}

void attend(Inputs in, const at::Tensor& out, const at::Tensor& log_sum_exp, bool wants_log_sum_exp) {
  if (in.kv_heads == 0) in.kv_heads = in.heads;
  const auto table = in.block_table.defined() ? in.block_table.to(at::kInt).contiguous() : at::Tensor();
  const auto lse = wants_log_sum_exp ? log_sum_exp.squeeze(-1) : at::Tensor();
  if (in.layout == "TND") {
    attend_packed(in, table, out, lse);
  } else {
    attend_batched(in, table, out, lse);
  }
}

// Quantised, padded and prefix-shared forms are refused, naming what was given.
void refuse_given(std::initializer_list<std::pair<const char*, const at::Tensor&>> arguments) {
  for (const auto& [name, tensor] : arguments) {
    if (tensor.defined() && tensor.numel() > 0) refuse(std::string("attention with ") + name);
  }
}

}  // namespace

OP(aclnnFusedInferAttentionScoreV3, (Tensor, query), (Tensors, key), (Tensors, value), (Tensor, pse_shift),
   (Tensor, atten_mask), (Ints, actual_seq_lengths), (Ints, actual_seq_lengths_kv), (Tensor, dequant_scale1),
   (Tensor, quant_scale1), (Tensor, dequant_scale2), (Tensor, quant_scale2), (Tensor, quant_offset2),
   (Tensor, antiquant_scale), (Tensor, antiquant_offset), (Tensor, block_table), (Tensor, query_padding_size),
   (Tensor, kv_padding_size), (Tensor, key_antiquant_scale), (Tensor, key_antiquant_offset),
   (Tensor, value_antiquant_scale), (Tensor, value_antiquant_offset), (Tensor, key_shared_prefix),
   (Tensor, value_shared_prefix), (Ints, actual_shared_prefix_len), (Tensor, query_rope), (Tensor, key_rope),
   (Tensor, key_rope_antiquant_scale), (Int64, num_heads), (Double, scale), (Int64, pre_tokens),
   (Int64, next_tokens), (Text, input_layout), (Int64, num_key_value_heads), (Int64, sparse_mode),
   (Int64, inner_precise), (Int64, block_size), (Int64, antiquant_mode), (Bool, softmax_lse_flag),
   (Int64, key_antiquant_mode), (Int64, value_antiquant_mode), (Tensor, attention_out),
   (Tensor, softmax_lse)) {
  refuse_given({{"pse_shift", pse_shift},
                {"dequant_scale1", dequant_scale1},
                {"quant_scale1", quant_scale1},
                {"quant_scale2", quant_scale2},
                {"antiquant_scale", antiquant_scale},
                {"key_antiquant_scale", key_antiquant_scale},
                {"value_antiquant_scale", value_antiquant_scale},
                {"query_padding_size", query_padding_size},
                {"kv_padding_size", kv_padding_size},
                {"key_shared_prefix", key_shared_prefix},
                {"query_rope", query_rope}});
  if (key.size() != 1 || value.size() != 1)
    refuse("attention over a list of " + std::to_string(key.size()) + " keys");
  Inputs in;
  in.query = std::move(query);
  in.keys = key[0];
  in.values = value[0];
  in.mask = std::move(atten_mask);
  in.block_table = std::move(block_table);
  in.query_ends = std::move(actual_seq_lengths);
  in.key_lengths = std::move(actual_seq_lengths_kv);
  in.heads = num_heads;
  in.kv_heads = num_key_value_heads;
  in.sparse_mode = sparse_mode;
  in.window = pre_tokens;
  in.scale = scale;
  in.layout = std::move(input_layout);
  attend(std::move(in), attention_out, softmax_lse, softmax_lse_flag);
}

// What torch.nn.functional.scaled_dot_product_attention calls. The softmax outputs serve the backward pass,
// which is not emulated: they are not written.
OP(aclnnFlashAttentionScore, (Tensor, query), (Tensor, key), (Tensor, value), (Tensor, pse_shift),
   (Tensor, drop_mask), (Tensor, padding_mask), (Tensor, atten_mask), (Ints, prefix), (Double, scale),
   (Double, keep_prob), (Int64, pre_tokens), (Int64, next_tokens), (Int64, num_heads), (Text, input_layout),
   (Int64, inner_precise), (Int64, sparse_mode), (Tensor, softmax_max), (Tensor, softmax_sum),
   (Tensor, softmax_out), (Tensor, attention_out)) {
  refuse_given({{"pse_shift", pse_shift}, {"drop_mask", drop_mask}, {"padding_mask", padding_mask}});
  Inputs in;
  in.query = std::move(query);
  in.keys = std::move(key);
  in.values = std::move(value);
  in.mask = std::move(atten_mask);
  in.heads = num_heads;
  in.layout = std::move(input_layout);
  const auto heads_first = in.layout == "BNSD";
  in.kv_heads = in.keys.dim() == 4 ? in.keys.size(heads_first ? 1 : 2)
                                   : in.keys.size(2) / (in.query.size(2) / num_heads);
  in.sparse_mode = sparse_mode;
  in.window = std::numeric_limits<std::int32_t>::max();
  in.scale = scale;
  attend(std::move(in), attention_out, at::Tensor(), /*wants_log_sum_exp=*/false);
}
