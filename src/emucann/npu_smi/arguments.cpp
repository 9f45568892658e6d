#include "arguments.h"

namespace emucann::npu_smi {
namespace {

int id_of(const std::string& option, const std::string& text) {
  const bool digits =
      !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) throw UsageError(option + " " + text + ": expected a number");
  return std::stoi(text);
}

Arguments::Command type_of(const std::string& name) {
  if (name == "health") return Arguments::Command::health;
  if (name == "board") return Arguments::Command::board;
  throw UsageError("info -t " + name + ": the emulator knows the types health and board");
}

}  // namespace

Arguments parse_arguments(const std::vector<std::string>& words) {
  Arguments arguments;
  if (words.empty() || words[0] == "-h" || words[0] == "--help") return arguments;
  if (words[0] == "-v" || words[0] == "--version") {
    arguments.command = Arguments::Command::version;
    return arguments;
  }
  if (words[0] != "info")
    throw UsageError(words[0] + ": the emulator knows the command info (see npu-smi --help)");
  arguments.command = Arguments::Command::table;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& option = words[i];
    if (option == "-m") {
      arguments.command = Arguments::Command::map;
    } else if (option == "-l") {
      arguments.command = Arguments::Command::list;
    } else if (option == "-t" || option == "-i" || option == "-c") {
      if (i + 1 == words.size()) throw UsageError("info " + option + ": a value must follow");
      const std::string& value = words[++i];
      if (option == "-t") arguments.command = type_of(value);
      if (option == "-i") arguments.npu = id_of(option, value);
      if (option == "-c") arguments.chip = id_of(option, value);
    } else {
      throw UsageError("info " + option + ": unknown option (see npu-smi --help)");
    }
  }
  const bool takes_ids =
      arguments.command == Arguments::Command::health || arguments.command == Arguments::Command::board;
  if (!takes_ids && (arguments.npu || arguments.chip))
    throw UsageError("-i and -c go with info -t health or board");
  if (arguments.chip && !arguments.npu)
    throw UsageError("-c " + std::to_string(*arguments.chip) + " needs -i");
  return arguments;
}

}  // namespace emucann::npu_smi
