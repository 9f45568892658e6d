#include "ops/op.h"

#include <ATen/Parallel.h>

namespace emucann {

void prepare_worker() {
  thread_local bool prepared = false;
  if (prepared) return;
  at::set_num_threads(op_threads());
  prepared = true;
}

int launch(aclOpExecutor* executor, aclrtStream stream) {
  const std::unique_ptr<aclOpExecutor> owned(executor);
  return enqueue(stream, owned->name, [body = std::move(owned->body)] {
    prepare_worker();
    const c10::InferenceMode no_autograd;
    body();
  });
}

}  // namespace emucann
