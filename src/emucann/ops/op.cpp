#include "ops/op.h"

#include <ATen/Parallel.h>

namespace emucann {

void run_kernels(const std::function<void()>& body) {
  [[maybe_unused]] thread_local const bool prepared = [] {
    at::set_num_threads(op_threads());
    return true;
  }();
  const c10::InferenceMode no_autograd;
  try {
    body();
  } catch (const c10::Error& error) {
    throw std::runtime_error(error.what_without_backtrace());
  }
}

int launch(aclOpExecutor* executor, aclrtStream stream) {
  const std::unique_ptr<aclOpExecutor> owned(executor);
  return enqueue(stream, owned->name, [body = std::move(owned->body)] { run_kernels(body); });
}

}  // namespace emucann
