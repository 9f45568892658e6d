#include "config/config.h"

#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace emucann {
namespace {

std::uint64_t whole_number(const std::string& name, const std::string& text, std::uint64_t low, std::uint64_t high) {
  bool digits = !text.empty() && text.size() <= 15;
  for (char c : text) digits = digits && c >= '0' && c <= '9';
  const std::uint64_t value = digits ? std::strtoull(text.c_str(), nullptr, 10) : 0;
  if (!digits || value < low || value > high) {
    throw std::invalid_argument(name + "=" + text + ": expected a whole number from " + std::to_string(low) + " to " +
                                std::to_string(high));
  }
  return value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

template <typename Set>
void read(const char* name, Set set) {
  if (const char* text = std::getenv(name); text != nullptr && *text != '\0') set(std::string(text));
}

Config from_environment() {
  Config result;
  try {
    read("EMUCANN_DEVICES", [&](const std::string& text) {
      result.devices = static_cast<int>(whole_number("EMUCANN_DEVICES", text, 1, 16));
    });
    read("EMUCANN_MEMORY_MB", [&](const std::string& text) {
      result.memory_bytes = whole_number("EMUCANN_MEMORY_MB", text, 16, std::uint64_t{1} << 20) << 20;
    });
    read("EMUCANN_SOC", [&](const std::string& text) { result.soc = text; });
    read("EMUCANN_THREADS", [&](const std::string& text) {
      result.threads = static_cast<int>(whole_number("EMUCANN_THREADS", text, 1, 1024));
    });
    read("EMUCANN_FAULT", [&](const std::string& text) { result.fault = parse_fault(text); });
  } catch (const std::invalid_argument& problem) {
    result.error = problem.what();
  }
  return result;
}

}  // namespace

Fault parse_fault(const std::string& text) {
  const auto parts = split(text, ':');
  Fault fault;
  constexpr std::uint64_t most = 1'000'000'000'000;
  if (parts.size() == 2 && (parts[0] == "flip-h2d" || parts[0] == "flip-d2h")) {
    fault.kind = parts[0] == "flip-h2d" ? Fault::Kind::flip_host_to_device : Fault::Kind::flip_device_to_host;
    fault.nth = whole_number("EMUCANN_FAULT " + parts[0], parts[1], 1, most);
  } else if (parts.size() == 3 && parts[0] == "stall") {
    fault.kind = Fault::Kind::stall;
    fault.nth = whole_number("EMUCANN_FAULT stall stream", parts[1], 0, most);
    fault.microseconds = whole_number("EMUCANN_FAULT stall microseconds", parts[2], 1, most);
  } else {
    throw std::invalid_argument("EMUCANN_FAULT=" + text +
                                ": expected flip-h2d:N, flip-d2h:N or stall:STREAM:MICROSECONDS");
  }
  return fault;
}

const Config& config() {
  static const Config instance = from_environment();
  return instance;
}

}  // namespace emucann
