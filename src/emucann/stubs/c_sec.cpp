// libc_sec.so: CANN's bounds-checked string functions, those that the wheels call. Too small to be worth a
// refusal.
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "emucann/runtime.h"

extern "C" {

// Copies source with its terminating zero; on any error the destination is an empty string.
EMUCANN_API int strcpy_s(char* destination, size_t bytes, const char* source) {
  if (destination == nullptr || bytes == 0) return EINVAL;
  destination[0] = '\0';
  if (source == nullptr) return EINVAL;
  const size_t length = std::strlen(source);
  if (length >= bytes) return ERANGE;
  std::memcpy(destination, source, length + 1);
  return 0;
}

// Prints at most count characters. Returns how many it wrote, or -1 if some did not fit.
EMUCANN_API int vsnprintf_s(char* destination, size_t bytes, size_t count, const char* format,
                            va_list values) {
  if (destination == nullptr || bytes == 0) return -1;
  const size_t room = count < bytes ? count + 1 : bytes;
  const int wanted = std::vsnprintf(destination, room, format, values);
  return wanted >= 0 && static_cast<size_t>(wanted) < room ? wanted : -1;
}
}
