// How long a rank waits for the others before it gives up with an error.
#pragma once

#include <chrono>

namespace emucann::hccl {

// Defaults: those of CANN 9.0.0 for this SoC. CANN refuses HCCL_CONNECT_TIMEOUT under 120 s; here a test may
// be shorter.
struct Timeouts {
  std::chrono::seconds connect{120};  // HCCL_CONNECT_TIMEOUT, 1 to 7200: until every rank has joined
  std::chrono::seconds execute{
      1836};  // HCCL_EXEC_TIMEOUT, 0 (never) to 2147483647: for a peer inside an operation
};

// Throws Error(HCCL_E_PARA), naming the variable, if one of them is no whole number in its range.
Timeouts timeouts_from_environment();

}  // namespace emucann::hccl
