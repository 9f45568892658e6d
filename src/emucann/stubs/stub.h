// What a stub does when it is called. Stubs take no parameters and return a long: on x86-64 and aarch64 the
// caller cleans up its arguments, and an int, a pointer or nothing is returned in the same register.
#pragma once

// Includes nothing of CANN: its declarations would contradict the stubs'.
#define EMUCANN_STUB extern "C" __attribute__((visibility("default"))) long

namespace emucann::stub {

// Succeeds and does nothing; which symbols may is data, with a reason each (benign.txt).
long benign(const char* symbol);

// Sets "emucann: <symbol> is not implemented" and returns an aclError.
long fail(const char* symbol);

// The same for functions that return no status: 0, which is no object, nothing, or an undefined value.
long null(const char* symbol);

// C++ functions, and C functions whose callers drop the status (throwing.txt): throws std::runtime_error with
// that message, the name demangled.
[[noreturn]] long refuse(const char* symbol);

}  // namespace emucann::stub
