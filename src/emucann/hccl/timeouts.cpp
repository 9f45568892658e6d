#include "timeouts.h"

#include <cstdlib>
#include <string>

#include "error.h"

namespace emucann::hccl {
namespace {

void read_seconds(const char* name, long low, long high, std::chrono::seconds& into) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < low || value > high) {
    throw Error(HCCL_E_PARA, std::string(name) + "=" + text + ": expected whole seconds from " +
                                 std::to_string(low) + " to " + std::to_string(high));
  }
  into = std::chrono::seconds(value);
}

}  // namespace

Timeouts timeouts_from_environment() {
  Timeouts timeouts;
  read_seconds("HCCL_CONNECT_TIMEOUT", 1, 7200, timeouts.connect);
  read_seconds("HCCL_EXEC_TIMEOUT", 0, 2147483647, timeouts.execute);
  return timeouts;
}

}  // namespace emucann::hccl
