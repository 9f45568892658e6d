// System parameters (aclSysParamOpt). CANN has one set a process and one a context; torch-npu looks both up
// in libacl_op_compiler.so (its AclOpCompileInterface.cpp) and only writes them, so one set serves here.
#include <map>
#include <mutex>
#include <string>

#include "emucann/runtime.h"

namespace {

struct Parameters {
  std::mutex mutex;
  std::map<aclSysParamOpt, int64_t> values;
};

Parameters& parameters() {
  static auto* instance = new Parameters;  // never destroyed: read by threads that outlive main
  return *instance;
}

aclError set(aclSysParamOpt option, int64_t value) {
  std::lock_guard lock(parameters().mutex);
  parameters().values[option] = value;
  return ACL_SUCCESS;
}

// 0 until set, as acl_rt.h says of each option.
aclError get(const char* function, aclSysParamOpt option, int64_t* value) {
  if (value == nullptr) {
    emucann::set_error_message(std::string("emucann: ") + function + ": value is null");
    return ACL_ERROR_INVALID_PARAM;
  }
  std::lock_guard lock(parameters().mutex);
  const auto found = parameters().values.find(option);
  *value = found == parameters().values.end() ? 0 : found->second;
  return ACL_SUCCESS;
}

}  // namespace

extern "C" {

EMUCANN_API aclError aclrtSetSysParamOpt(aclSysParamOpt option, int64_t value) { return set(option, value); }

EMUCANN_API aclError aclrtGetSysParamOpt(aclSysParamOpt option, int64_t* value) {
  return get("aclrtGetSysParamOpt", option, value);
}

EMUCANN_API aclError aclrtCtxSetSysParamOpt(aclSysParamOpt option, int64_t value) {
  return set(option, value);
}

EMUCANN_API aclError aclrtCtxGetSysParamOpt(aclSysParamOpt option, int64_t* value) {
  return get("aclrtCtxGetSysParamOpt", option, value);
}
}
