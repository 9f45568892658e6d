#include "config/config.h"

#include <cstdlib>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

namespace emucann {
namespace {

// No value if text is not a whole number in [low, high].
std::optional<std::uint64_t> number_in(const std::string& text, std::uint64_t low, std::uint64_t high) {
  bool digits = !text.empty() && text.size() <= 15;
  for (char c : text) digits = digits && c >= '0' && c <= '9';
  if (!digits) return std::nullopt;
  const std::uint64_t value = std::strtoull(text.c_str(), nullptr, 10);
  return value < low || value > high ? std::nullopt : std::optional<std::uint64_t>(value);
}

std::uint64_t whole_number(const std::string& name, const std::string& text, std::uint64_t low,
                           std::uint64_t high) {
  if (const auto value = number_in(text, low, high)) return *value;
  throw std::invalid_argument(name + "=" + text + ": expected a whole number from " + std::to_string(low) +
                              " to " + std::to_string(high));
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

// How many devices a list of logical ids lets a process see: it is read up to the first entry that is no id
// of a device, or one that stands there already (CANN, maintenance reference, ASCEND_RT_VISIBLE_DEVICES). All
// devices are alike, so which ones they are makes no difference.
int visible(const std::string& list, int installed) {
  std::set<std::uint64_t> ids;
  for (const auto& entry : split(list, ',')) {
    const auto id = number_in(entry, 0, static_cast<std::uint64_t>(installed) - 1);
    if (!id || !ids.insert(*id).second) break;
  }
  return static_cast<int>(ids.size());
}

template <typename Set>
void read(const char* name, Set set) {
  if (const char* text = std::getenv(name); text != nullptr && *text != '\0') set(std::string(text));
}

}  // namespace

Config config_from_environment() {
  Config result;
  try {
    read("EMUCANN_DEVICES", [&](const std::string& text) {
      result.installed_devices = static_cast<int>(whole_number("EMUCANN_DEVICES", text, 1, 16));
      result.devices = result.installed_devices;
    });
    read("ASCEND_RT_VISIBLE_DEVICES",
         [&](const std::string& text) { result.devices = visible(text, result.installed_devices); });
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

Fault parse_fault(const std::string& text) {
  constexpr std::uint64_t most = 1'000'000'000'000;
  const auto parts = split(text, ':');
  const auto number = [&](std::size_t part, std::uint64_t low) {
    return part < parts.size() ? number_in(parts[part], low, most) : std::nullopt;
  };
  const bool to_device = parts[0] == "flip-h2d";
  if (to_device || parts[0] == "flip-d2h") {
    if (const auto nth = number(1, 1); nth && parts.size() == 2) {
      return {to_device ? Fault::Kind::flip_host_to_device : Fault::Kind::flip_device_to_host, *nth, 0};
    }
  } else if (parts[0] == "stall") {
    const auto stream = number(1, 0);
    const auto microseconds = number(2, 1);
    if (stream && microseconds && parts.size() == 3) return {Fault::Kind::stall, *stream, *microseconds};
  }
  throw std::invalid_argument(
      "EMUCANN_FAULT=" + text +
      ": expected flip-h2d:N, flip-d2h:N or stall:STREAM:MICROSECONDS, in whole numbers");
}

const Config& config() {
  static const Config instance = config_from_environment();
  return instance;
}

}  // namespace emucann
