// What the rooms of the emulator share: work goes to a stream, bytes are reached through host_view, errors
// have words.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "acl/acl.h"

#define EMUCANN_API __attribute__((visibility("default")))

namespace emucann {

// Enqueues work on a stream, in order, and returns at once. A null stream is the current device's default
// stream. An exception thrown by body is kept and reported at the next synchronisation, naming op.
EMUCANN_API aclError enqueue(aclrtStream stream, const char* op, std::function<void()> body);

// Host-accessible address of the bytes behind a device or host pointer (device addresses are not readable by
// the host).
EMUCANN_API void* host_view(const void* pointer);

// The same, after checking that [pointer, pointer + bytes) lies in one live allocation if pointer is a device
// address. Throws std::runtime_error naming the address if it does not.
EMUCANN_API void* host_view(const void* pointer, std::size_t bytes);

// Makes a range of device bytes zero; whole pages are given back to the system, so that a large one costs
// nothing.
EMUCANN_API void zero(void* host_bytes, std::size_t bytes);

// Records the message that aclGetRecentErrMsg returns on this thread.
EMUCANN_API void set_error_message(std::string message);

// Records code and message for this thread and returns code, so that a function can end with `return
// fail(...)`.
EMUCANN_API aclError fail(aclError code, std::string message);

// Threads that one op may use (EMUCANN_THREADS).
EMUCANN_API int op_threads();

}  // namespace emucann
