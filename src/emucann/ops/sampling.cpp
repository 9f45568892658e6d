// Ops of the sampler.
#include "ops/op.h"

// vllm-ascend's own (csrc/apply_top_k_top_p_custom): logits [rows, vocabulary]; p, k: one number a row, or
// left out. What is not among the k largest, or beyond the smallest set whose probabilities reach p, becomes
// -inf; the largest always stays.
OP(aclnnApplyTopKTopPCustom, (Tensor, logits), (Tensor, p), (Tensor, k), (Tensor, out)) {
  const auto [sorted, order] = at::sort(logits.to(at::kFloat), /*dim=*/-1, /*descending=*/true);
  const auto vocabulary = logits.size(-1);
  auto removed = at::zeros_like(sorted, sorted.options().dtype(at::kBool));
  if (k.defined()) {
    const auto rank = at::arange(vocabulary, at::TensorOptions().dtype(at::kLong)).unsqueeze(0);
    removed.logical_or_(rank.ge(k.to(at::kLong).unsqueeze(-1)));
  }
  if (p.defined()) {
    const auto probabilities = at::softmax(sorted.masked_fill(removed, -INFINITY), -1);
    const auto before = at::cumsum(probabilities, -1) - probabilities;
    removed.logical_or_(before.ge(p.to(at::kFloat).unsqueeze(-1)));
  }
  removed.select(-1, 0).fill_(false);
  const auto removed_in_place = at::empty_like(removed).scatter_(-1, order, removed);
  out.copy_(logits.masked_fill(removed_in_place, -INFINITY));
}
