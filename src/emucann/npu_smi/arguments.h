#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace emucann::npu_smi {

struct Arguments {
  enum class Command { help, version, table, map, list, health, board } command = Command::help;
  std::optional<int> npu;   // -i
  std::optional<int> chip;  // -c
};

// A command line that npu-smi can't answer, in one line.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Parses the words after the program's name. Throws UsageError.
Arguments parse_arguments(const std::vector<std::string>& words);

}  // namespace emucann::npu_smi
