// How an op at PyTorch's dispatcher works on a stream. Like torch-npu's own it goes through torch-npu's task
// queue (OpCommand::RunOpApiV2), in order with every other op.
#pragma once

#include <ATen/ATen.h>

#include <tuple>
#include <utility>
#include <vector>

#include "emucann/runtime.h"
#include "ops/op.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

namespace emucann {

// A CPU tensor over an NPU tensor's bytes, to be made by the stream's worker.
class View {
 public:
  explicit View(const at::Tensor& tensor)
      : sizes_(tensor.sizes().vec()),
        strides_(tensor.strides().vec()),
        dtype_(tensor.scalar_type()),
        data_(static_cast<const char*>(tensor.storage().data()) +
              tensor.storage_offset() * tensor.itemsize()),
        bytes_(tensor.numel() == 0 ? 0 : span(tensor)) {}

  at::Tensor tensor() const {
    return at::from_blob(bytes_ == 0 ? nullptr : host_view(data_, bytes_), sizes_, strides_,
                         at::TensorOptions().dtype(dtype_));
  }

 private:
  static std::size_t span(const at::Tensor& tensor) {
    std::int64_t last = 0;
    for (std::int64_t i = 0; i < tensor.dim(); ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
    return static_cast<std::size_t>(last + 1) * tensor.itemsize();
  }

  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> strides_;
  at::ScalarType dtype_;
  const char* data_;
  std::size_t bytes_;
};

// Runs body(tensors...) on the current stream. The caching allocator hands a freed tensor's memory only to
// later work of the same stream, so the views need not keep the tensors.
template <typename Body, typename... Tensors>
void run(const char* name, Body body, const Tensors&... tensors) {
  const aclrtStream stream = c10_npu::getCurrentNPUStream().stream(false);
  auto task = [body, views = std::make_tuple(View(tensors)...)] {
    run_kernels([&] { std::apply([&](const auto&... view) { body(view.tensor()...); }, views); });
  };
  at_npu::native::OpCommand::RunOpApiV2(
      name, [name, stream, task = std::move(task)]() -> int { return enqueue(stream, name, task); });
}

}  // namespace emucann
