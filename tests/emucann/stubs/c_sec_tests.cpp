#include <gtest/gtest.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <string>

extern "C" {
int strcpy_s(char* destination, size_t bytes, const char* source);
int vsnprintf_s(char* destination, size_t bytes, size_t count, const char* format, va_list values);
}

namespace {

int print(char* destination, size_t bytes, size_t count, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int result = vsnprintf_s(destination, bytes, count, format, values);
  va_end(values);
  return result;
}

TEST(StrcpyS, CopiesWhatFitsAndEmptiesOtherwise) {
  char room[4] = "xyz";
  EXPECT_EQ(strcpy_s(room, sizeof room, "abc"), 0);
  EXPECT_STREQ(room, "abc");
  EXPECT_EQ(strcpy_s(room, sizeof room, "abcd"), ERANGE);
  EXPECT_STREQ(room, "");
  EXPECT_EQ(strcpy_s(room, sizeof room, nullptr), EINVAL);
  EXPECT_EQ(strcpy_s(nullptr, 4, "abc"), EINVAL);
  EXPECT_EQ(strcpy_s(room, 0, "abc"), EINVAL);
}

TEST(VsnprintfS, SaysWhatDidNotFit) {
  char room[6] = {};
  EXPECT_EQ(print(room, sizeof room, 5, "%d-%s", 7, "ab"), 4);
  EXPECT_STREQ(room, "7-ab");
  EXPECT_EQ(print(room, sizeof room, 5, "%s", "abcdefg"), -1);
  EXPECT_STREQ(room, "abcde");
  EXPECT_EQ(print(room, sizeof room, 2, "%s", "xyz"), -1);
  EXPECT_STREQ(room, "xy");
  EXPECT_EQ(print(nullptr, 6, 5, "x"), -1);
}

}  // namespace
