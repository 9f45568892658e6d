
#include <utility>

#include "emucann/runtime.h"

namespace emucann {
namespace {

struct Recent {
  std::string message;   // not asked for yet
  std::string returned;  // keeps the bytes that aclGetRecentErrMsg handed out
  aclError code = ACL_SUCCESS;
};

thread_local Recent recent;

}  // namespace

void set_error_message(std::string message) { recent.message = std::move(message); }

aclError fail(aclError code, std::string message) {
  recent.code = code;
  set_error_message("emucann: " + std::move(message));
  return code;
}

}  // namespace emucann

extern "C" {

// As CANN's: the message of this thread's last failure, once; null if there is none.
EMUCANN_API const char* aclGetRecentErrMsg() {
  if (emucann::recent.message.empty()) return nullptr;
  emucann::recent.returned = std::exchange(emucann::recent.message, {});
  return emucann::recent.returned.c_str();
}

EMUCANN_API aclError aclrtPeekAtLastError(aclrtLastErrLevel) { return emucann::recent.code; }

EMUCANN_API aclError aclrtGetLastError(aclrtLastErrLevel) {
  return std::exchange(emucann::recent.code, ACL_SUCCESS);
}
}
