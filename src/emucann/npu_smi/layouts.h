// The texts of npu-smi 25.5.1 on a 910B3, for emulated devices. Column widths are the original's; what is not
// simulated (power, temperature, load) reads 0, and memory in use too, since it belongs to other processes.
#pragma once

#include <optional>
#include <string>

namespace emucann::npu_smi {

struct Devices {
  int count = 1;
  std::size_t memory_mb = 4096;
  std::string chip;     // 910B3
  std::string version;  // of the driver
};

std::string table(const Devices& devices);    // info
std::string mapping(const Devices& devices);  // info -m
std::string list(const Devices& devices);     // info -l
// info -t health and -t board: of one NPU, or with no npu of each, below its NPU ID. chip 0 is the NPU, 1 the
// Mcu.
std::string health(const Devices& devices, std::optional<int> npu, std::optional<int> chip);
std::string board(const Devices& devices, std::optional<int> npu, std::optional<int> chip);

}  // namespace emucann::npu_smi
