#include "stub.h"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "emucann/runtime.h"

namespace emucann::stub {
namespace {

std::string readable(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? text.get() : symbol;
}

// EMUCANN_TRACE_STUBS=1 tells which stubs a program calls: candidates for a room, or for benign.txt.
void trace(const char* symbol) {
  static const bool wanted = [] {
    const char* text = std::getenv("EMUCANN_TRACE_STUBS");
    return text != nullptr && std::string(text) == "1";
  }();
  if (wanted) std::fprintf(stderr, "emucann: stub %s\n", readable(symbol).c_str());
}

std::string complaint(const char* symbol) { return "emucann: " + readable(symbol) + " is not implemented"; }

}  // namespace

long benign(const char* symbol) {
  trace(symbol);
  return 0;
}

long fail(const char* symbol) {
  null(symbol);
  return ACL_ERROR_API_NOT_SUPPORT;
}

long null(const char* symbol) {
  trace(symbol);
  set_error_message(complaint(symbol));
  return 0;
}

long refuse(const char* symbol) {
  trace(symbol);
  throw std::runtime_error(complaint(symbol));
}

}  // namespace emucann::stub
