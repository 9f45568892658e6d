// What the tests of the runtime's rooms share: errors with their words, memory that frees itself, and
// children for what can be seen only once a process (settings, exits, crashes).
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"

#define EXPECT_ACL_OK(call) EXPECT_EQ((call), ACL_SUCCESS) << ::emucann::testing::recent_message()
#define ASSERT_ACL_OK(call) ASSERT_EQ((call), ACL_SUCCESS) << ::emucann::testing::recent_message()

namespace emucann::testing {

// The calling thread's last message, which is handed out once.
inline std::string recent_message() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

inline void expect_words(const std::string& message, std::initializer_list<const char*> words) {
  for (const char* word : words)
    EXPECT_NE(message.find(word), std::string::npos) << message << "\nlacks " << word;
}

// A call failed, and its message is one line with these words.
inline void expect_refused(aclError code, std::initializer_list<const char*> words) {
  const std::string message = recent_message();
  EXPECT_NE(code, ACL_SUCCESS) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  expect_words(message, words);
}

class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    EXPECT_ACL_OK(aclrtMalloc(&pointer_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    if (pointer_ != nullptr) {
      EXPECT_ACL_OK(aclrtFree(pointer_));
    }
  }

  void* get() const { return pointer_; }
  char* at(std::size_t offset) const { return static_cast<char*>(pointer_) + offset; }
  std::size_t bytes() const { return bytes_; }
  void* release() { return std::exchange(pointer_, nullptr); }

  void write(const std::vector<unsigned char>& from) const {
    EXPECT_ACL_OK(aclrtMemcpy(pointer_, bytes_, from.data(), from.size(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  std::vector<unsigned char> read() const {
    std::vector<unsigned char> result(bytes_);
    EXPECT_ACL_OK(aclrtMemcpy(result.data(), bytes_, pointer_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST));
    return result;
  }

 private:
  std::size_t bytes_;
  void* pointer_ = nullptr;
};

using Variables = std::vector<std::pair<const char*, const char*>>;

// Runs body in a process of its own with these variables, and fails the test if an expectation in it failed.
// The parent must not have used the runtime: its threads and settings would be the child's.
inline void in_child(const Variables& variables, const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (const auto& [name, value] : variables) setenv(name, value, 1);
    body();
    std::fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child ended with " << status;
}

}  // namespace emucann::testing
