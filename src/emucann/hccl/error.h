#pragma once

#include <stdexcept>
#include <string>

#include "hccl/hccl_types.h"

namespace emucann::hccl {

// What went wrong, in one line, and the code that the C function returns for it.
class Error : public std::runtime_error {
 public:
  Error(HcclResult code, const std::string& message) : std::runtime_error(message), code_(code) {}
  HcclResult code() const { return code_; }

 private:
  HcclResult code_;
};

}  // namespace emucann::hccl
