#include "compile/legacy_op.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdlib>
#include <memory>

namespace emucann {
namespace {

std::string symbol_at(void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_sname == nullptr) return "";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : info.dli_sname;
}

// `at::_ops::svd::call(at::Tensor const&)` -> `svd`: PyTorch's dispatcher has one such function for each aten
// op.
std::optional<std::string> dispatched_op(const std::string& symbol) {
  const std::string prefix = "at::_ops::";
  if (symbol.rfind(prefix, 0) != 0) return std::nullopt;
  return "aten::" + symbol.substr(prefix.size(), symbol.find("::", prefix.size()) - prefix.size());
}

}  // namespace

std::optional<std::string> legacy_op_of_caller() {
  constexpr int depth = 64;
  void* frames[depth];
  const int count = backtrace(frames, depth);
  bool legacy = false;
  for (int i = 0; i < count; ++i) {
    const std::string symbol = symbol_at(frames[i]);
    if (symbol == "at_npu::native::OpCommand::Run()") legacy = true;
    if (!legacy) continue;
    if (const auto op = dispatched_op(symbol)) return op;
  }
  return legacy ? std::optional<std::string>("(see the Python traceback)") : std::nullopt;
}

}  // namespace emucann
