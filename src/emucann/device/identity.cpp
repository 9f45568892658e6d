// What this library says of itself. It must never pass for the vendor's: the symbol emucann_version exists
// only here.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "emucann/runtime.h"

#ifndef EMUCANN_VERSION
#error "EMUCANN_VERSION comes from CMake"
#endif

extern "C" {

EMUCANN_API const char* emucann_version() { return "EMULATED " EMUCANN_VERSION; }

// The CANN release whose interface is emulated, in the form torch-npu parses.
EMUCANN_API aclError aclsysGetCANNVersion(aclCANNPackageName, aclCANNPackageVersion* version) {
  std::memset(version, 0, sizeof *version);
  std::snprintf(version->version, sizeof version->version, "9.0.0");
  return ACL_SUCCESS;
}

EMUCANN_API void aclAppLog(aclLogLevel level, const char* function, const char* file, uint32_t line,
                           const char* format, ...) {
  // CANN's own variable: 0 debug, 1 info, 2 warning, 3 error, 4 none. The vendor's default writes errors to
  // its log files; here they go to stderr when asked for.
  static const int lowest = [] {
    const char* text = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
    return text == nullptr ? 4 : static_cast<int>(std::strtol(text, nullptr, 10));
  }();
  if (static_cast<int>(level) < lowest) return;
  char message[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "[emucann log %d] %s:%u %s: %s\n", static_cast<int>(level), file, line, function,
               message);
}
}
