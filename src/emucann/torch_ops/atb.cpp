// Ops of NNAL's ATB library. ATB is a C++ interface with virtual classes whose headers no wheel carries, so
// these ops can't be had below torch-npu: they take the place of torch-npu's own at PyTorch's dispatcher.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "ops/kernels/attention.h"
#include "ops/kernels/kv_cache.h"
#include "ops/kernels/rotary.h"
#include "torch_ops/task.h"

namespace {

using at::Tensor;
using emucann::run;

void rotary_embedding(const Tensor& positions, Tensor& query, Tensor& key, std::int64_t head_size,
                      const Tensor& cos_sin_cache, bool is_neox_style) {
  run(
      "_npu_rotary_embedding",
      [=](const Tensor& where, const Tensor& q, const Tensor& k, const Tensor& table) {
        emucann::kernels::rotate(q, where, table, head_size, is_neox_style);
        emucann::kernels::rotate(k, where, table, head_size, is_neox_style);
      },
      positions, query, key, cos_sin_cache);
}

void reshape_and_cache(const Tensor& key, const Tensor& value, Tensor& key_cache, Tensor& value_cache,
                       const Tensor& slot_indices) {
  run(
      "_npu_reshape_and_cache",
      [](const Tensor& k, const Tensor& v, const Tensor& keys, const Tensor& values, const Tensor& slots) {
        emucann::kernels::write_slots(k, keys, slots);
        emucann::kernels::write_slots(v, values, slots);
      },
      key, value, key_cache, value_cache, slot_indices);
}

// query, out: [sequences, heads, dim]; caches: [blocks, block_size, kv_heads, dim]. One query a sequence: a
// decode step. ATB reads context_lens on the host too: it is a CPU tensor there, or a device one.
void paged_attention(const Tensor& query, const Tensor& key_cache, const Tensor& value_cache,
                     std::int64_t num_kv_heads, std::int64_t num_heads, double scale_value,
                     const Tensor& block_table, const Tensor& context_lens, Tensor& out,
                     const std::optional<Tensor>&) {
  const bool lengths_on_host = context_lens.is_cpu();
  const Tensor host_lengths = lengths_on_host ? context_lens.to(at::kInt).contiguous().clone() : Tensor();
  const auto body = [=](const Tensor& q, const Tensor& keys, const Tensor& values, const Tensor& table,
                        const Tensor& device_lengths, const Tensor& result) {
    const auto lengths = lengths_on_host ? host_lengths : device_lengths.to(at::kInt).contiguous();
    const auto blocks = table.to(at::kInt).contiguous();
    const emucann::kernels::Heads queries(q.view({q.size(0), num_heads, -1}));
    const emucann::kernels::Heads outputs(result.view({q.size(0), num_heads, -1}));
    emucann::kernels::KeyValue sequence;
    sequence.keys = emucann::kernels::Cache(keys);
    sequence.values = emucann::kernels::Cache(values);
    for (std::int64_t i = 0; i < lengths.numel(); ++i) {
      sequence.blocks = blocks.const_data_ptr<std::int32_t>() + i * blocks.stride(0);
      sequence.length = lengths.const_data_ptr<std::int32_t>()[i];
      emucann::kernels::attention(queries.slice(i, i + 1), sequence, scale_value, {},
                                  outputs.slice(i, i + 1));
    }
  };
  TORCH_CHECK(num_kv_heads == key_cache.size(2), "_npu_paged_attention: num_kv_heads is ", num_kv_heads,
              ", the cache has ", key_cache.size(2));
  run("_npu_paged_attention", body, query, key_cache, value_cache, block_table,
      lengths_on_host ? query : context_lens, out);
}

Tensor paged_attention_workspace(const Tensor& query, const Tensor&, const Tensor&, std::int64_t,
                                 std::int64_t, double, const Tensor&, const Tensor&, Tensor&) {
  return at::empty({1}, query.options().dtype(at::kByte));
}

// c += x^T w, accumulated in float.
void matmul_add_fp32(const Tensor& x, const Tensor& weight, Tensor& c) {
  run(
      "_npu_matmul_add_fp32",
      [](const Tensor& a, const Tensor& b, const Tensor& sum) {
        sum.add_(at::mm(a.to(at::kFloat).t(), b.to(at::kFloat)));
      },
      x, weight, c);
}

}  // namespace

TORCH_LIBRARY_IMPL(atb, PrivateUse1, library) {
  library.impl("_npu_rotary_embedding", TORCH_FN(rotary_embedding));
  library.impl("_npu_reshape_and_cache", TORCH_FN(reshape_and_cache));
  library.impl("_npu_paged_attention", TORCH_FN(paged_attention));
  library.impl("_npu_paged_attention_get_workspace", TORCH_FN(paged_attention_workspace));
  library.impl("_npu_matmul_add_fp32", TORCH_FN(matmul_add_fp32));
}
