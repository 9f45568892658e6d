// Ops that have no aclnn form here take torch-npu's legacy path, which describes a graph of one op to CANN's
// compiler.
#pragma once

#include <optional>
#include <string>

namespace emucann {

// The op that torch-npu is about to launch on the legacy path on this thread: read from the call stack,
// because CANN is told its name only later, on the task queue's thread, when the caller has gone on. No value
// on any other path.
std::optional<std::string> legacy_op_of_caller();

}  // namespace emucann
