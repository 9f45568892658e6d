// npu-smi for the emulated devices: `npu-smi info` and its -m, -l, -t health, -t board.
#include <cstdio>
#include <string>
#include <vector>

#include "arguments.h"
#include "config/config.h"
#include "layouts.h"

using namespace emucann;
using namespace emucann::npu_smi;

namespace {

const char* const help =
    R"(npu-smi of the emulated CANN: answers for EMUCANN_DEVICES devices, in the layout of a 910B3.
  npu-smi info                             all devices
  npu-smi info -m                          NPU ID, Chip ID and Chip Logic ID
  npu-smi info -l                          devices, one after the other
  npu-smi info -t health [-i N [-c C]]     health
  npu-smi info -t board  [-i N [-c C]]     product, serial number, version, bus
  npu-smi -v                               version
)";

Devices devices_of(const Config& config) {
  Devices devices;
  devices.count = config.installed_devices;
  devices.memory_mb = config.memory_bytes >> 20;
  const std::string prefix = "Ascend";
  devices.chip = config.soc.rfind(prefix, 0) == 0 ? config.soc.substr(prefix.size()) : config.soc;
  devices.version = EMUCANN_DRIVER_VERSION;
  return devices;
}

void require_ids(const Devices& devices, const Arguments& arguments) {
  if (arguments.npu && *arguments.npu >= devices.count) {
    throw UsageError("no NPU " + std::to_string(*arguments.npu) + ": expected 0 to " +
                     std::to_string(devices.count - 1) + ", as EMUCANN_DEVICES says");
  }
  if (arguments.chip && *arguments.chip > 1) {
    throw UsageError("NPU " + std::to_string(arguments.npu.value_or(0)) + " has no chip " +
                     std::to_string(*arguments.chip) + ": expected 0 (NPU) or 1 (Mcu)");
  }
}

std::string answer(const Arguments& arguments, const Devices& devices) {
  switch (arguments.command) {
    case Arguments::Command::version:
      return "npu-smi version: " + devices.version + "\n";
    case Arguments::Command::table:
      return table(devices);
    case Arguments::Command::map:
      return mapping(devices);
    case Arguments::Command::list:
      return list(devices);
    case Arguments::Command::health:
      return health(devices, arguments.npu, arguments.chip);
    case Arguments::Command::board:
      return board(devices, arguments.npu, arguments.chip);
    case Arguments::Command::help:
      break;
  }
  return help;
}

}  // namespace

int main(int count, char** words) try {
  const Arguments arguments = parse_arguments({words + 1, words + count});
  if (!config().error.empty()) throw UsageError(config().error);
  const Devices devices = devices_of(config());
  require_ids(devices, arguments);
  const std::string text = answer(arguments, devices);
  return std::fputs(text.c_str(), stdout) == EOF || std::fflush(stdout) == EOF ? 1 : 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "npu-smi: %s\n", problem.what());
  return 1;
}
