// The emulator's settings, read once from environment variables (table in README.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emucann {

struct Fault {
  enum class Kind { none, flip_host_to_device, flip_device_to_host, stall } kind = Kind::none;
  std::uint64_t nth = 0;           // flip: the copy whose byte flips, from 1; stall: the stream's id
  std::uint64_t microseconds = 0;  // stall: pause before each burst of work
};

struct Config {
  int devices = 1;            // that this process sees: ASCEND_RT_VISIBLE_DEVICES of those installed
  int installed_devices = 1;  // EMUCANN_DEVICES, all of which npu-smi shows
  std::size_t memory_bytes = std::size_t{4096} << 20;  // of one device
  std::string soc = "Ascend910B3";
  int threads = 1;
  Fault fault;
  std::string error;  // one line on the first variable that can't be read; empty if all are good
};

// Parses the environment as it is now.
Config config_from_environment();

// The process's settings, parsed at the first call; aclInit and aclrtSetDevice refuse to start while error is
// not empty.
const Config& config();

// Parses `flip-h2d:N`, `flip-d2h:N` or `stall:STREAM:MICROSECONDS`. Throws std::invalid_argument with one
// line.
Fault parse_fault(const std::string& text);

}  // namespace emucann
