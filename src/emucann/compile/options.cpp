// Compile options and the legacy op path (acl_op_compiler.h): options are remembered, nothing is ever
// compiled.
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "acl/acl_op_compiler.h"
#include "compile/legacy_op.h"
#include "emucann/runtime.h"

namespace emucann {
namespace {

class Options {
 public:
  void set(aclCompileOpt option, std::string value) {
    std::lock_guard lock(mutex_);
    values_[option] = std::move(value);
  }

  std::string get(aclCompileOpt option) const {
    std::lock_guard lock(mutex_);
    const auto found = values_.find(option);
    return found == values_.end() ? "" : found->second;
  }

 private:
  mutable std::mutex mutex_;
  // torch-npu reads ACL_OP_JIT_COMPILE at start: anything but "disable" leads every op down the legacy
  // compile path.
  std::map<aclCompileOpt, std::string> values_{{ACL_OP_JIT_COMPILE, "disable"}};
};

Options& options() {
  static auto* instance = new Options;  // never destroyed: read by threads that outlive main
  return *instance;
}

bool known(aclCompileOpt option) { return option >= ACL_PRECISION_MODE && option <= ACL_OP_DEBUG_OPTION; }

// The legacy path hands a graph of one op to CANN's graph compiler. Its ops are not there: to go on would
// leave the outputs unwritten.
aclError refuse_op(const char* function, const char* op) {
  return fail(ACL_ERROR_OP_NOT_FOUND, std::string(function) + ": op " + (op != nullptr ? op : "(null)") +
                                          " has no aclnn form here and the emulator compiles no ops");
}

}  // namespace
}  // namespace emucann

using namespace emucann;

extern "C" {

EMUCANN_API aclError aclSetCompileopt(aclCompileOpt option, const char* value) {
  if (!known(option) || value == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclSetCompileopt: unknown option " + std::to_string(option) + " or no value");
  }
  if (option == ACL_OP_JIT_COMPILE) {
    // torch-npu sets this option just before it queues a legacy op: the last moment to refuse it at the call.
    if (const auto op = legacy_op_of_caller()) return refuse_op("the legacy op path", op->c_str());
  }
  options().set(option, value);
  return ACL_SUCCESS;
}

// Bytes that aclGetCompileopt needs, with the terminating zero.
EMUCANN_API size_t aclGetCompileoptSize(aclCompileOpt option) { return options().get(option).size() + 1; }

EMUCANN_API aclError aclGetCompileopt(aclCompileOpt option, char* value, size_t length) {
  const std::string text = options().get(option);
  if (!known(option) || value == nullptr || length < text.size() + 1) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclGetCompileopt: unknown option " + std::to_string(option) +
                                             " or a buffer under " + std::to_string(text.size() + 1) +
                                             " bytes");
  }
  std::memcpy(value, text.c_str(), text.size() + 1);
  return ACL_SUCCESS;
}

// Only says how the legacy path would compile.
EMUCANN_API aclError aclopSetCompileFlag(aclOpCompileFlag) { return ACL_SUCCESS; }

EMUCANN_API aclError aclopCompile(const char* op, int, const aclTensorDesc* const[], int,
                                  const aclTensorDesc* const[], const aclopAttr*, aclopEngineType,
                                  aclopCompileType, const char*) {
  return refuse_op("aclopCompile", op);
}

EMUCANN_API aclError aclopCompileAndExecute(const char* op, int, const aclTensorDesc* const[],
                                            const aclDataBuffer* const[], int, const aclTensorDesc* const[],
                                            aclDataBuffer* const[], const aclopAttr*, aclopEngineType,
                                            aclopCompileType, const char*, aclrtStream) {
  return refuse_op("aclopCompileAndExecute", op);
}

EMUCANN_API aclError aclopCompileAndExecuteV2(const char* op, int, aclTensorDesc*[], aclDataBuffer*[], int,
                                              aclTensorDesc*[], aclDataBuffer*[], aclopAttr*, aclopEngineType,
                                              aclopCompileType, const char*, aclrtStream) {
  return refuse_op("aclopCompileAndExecuteV2", op);
}
}
