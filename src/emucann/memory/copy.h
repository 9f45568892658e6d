// Copies between host and devices, and the fault that flips a byte in one of them.
#pragma once

#include <cstddef>

#include "acl/acl.h"

namespace emucann {

// Throws std::runtime_error if the direction does not fit the addresses, or a device range is not live.
void copy(void* destination, const void* source, std::size_t bytes, aclrtMemcpyKind kind);

}  // namespace emucann
