// What Triton kernels of vLLM do that no driver of Triton can run here and that nothing else stands in for:
// ops under names of our own, which emucann_ops/triton_kernels.py calls in the kernels' place.
#include <torch/library.h>

#include "ops/kernels/kv_cache.h"
#include "torch_ops/task.h"

namespace {

using at::Tensor;

void slot_mapping(const Tensor& query_start_loc, const Tensor& positions, const Tensor& block_table,
                  std::int64_t block_size, std::int64_t padding, Tensor& slots) {
  emucann::run(
      "slot_mapping",
      [=](const Tensor& starts, const Tensor& where, const Tensor& table, const Tensor& out) {
        emucann::kernels::map_slots(starts, where, table, block_size, padding, out);
      },
      query_start_loc, positions, block_table, slots);
}

}  // namespace

TORCH_LIBRARY(emucann, library) {
  library.def(
      "slot_mapping(Tensor query_start_loc, Tensor positions, Tensor block_table, int block_size, int "
      "padding, "
      "Tensor(a!) slots) -> ()");
}
TORCH_LIBRARY_IMPL(emucann, PrivateUse1, library) { library.impl("slot_mapping", TORCH_FN(slot_mapping)); }
