#include "layouts.h"

#include <cstdarg>
#include <cstdio>
#include <vector>

namespace emucann::npu_smi {
namespace {

__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  char line[256];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(line, sizeof line, pattern, values);
  va_end(values);
  return line;
}

const char* const thin =
    "+---------------------------+---------------+----------------------------------------------------+\n";
const char* const thick =
    "+===========================+===============+====================================================+\n";

std::string bus_id(int npu) { return format("0000:%02X:00.0", 0xC1 + npu); }

std::string field(const char* name, const std::string& value) {
  return format("        %-30s : %s\n", name, value.c_str());
}

std::string usage(std::size_t used, std::size_t total) {
  return format("%-5s/ %s", std::to_string(used).c_str(), std::to_string(total).c_str());
}

// Block after block, each below its NPU ID if there is more to tell apart than one.
template <typename Block>
std::string of_each(const Devices& devices, std::optional<int> npu, Block block) {
  if (npu) return block(*npu);
  std::string text;
  for (int id = 0; id < devices.count; ++id) {
    text += (id == 0 ? "" : "\n") + field("NPU ID", std::to_string(id)) + block(id);
  }
  return text;
}

std::string chip_board(const Devices& devices, int npu, int chip) {
  const bool mcu = chip == 1;
  return field("NPU ID", std::to_string(npu)) + field("Chip ID", std::to_string(chip)) +
         field("Chip Type", mcu ? "mcu" : "Ascend") + field("Chip Name", mcu ? "MCU" : devices.chip) +
         field("Chip Version", mcu ? "NA" : "V1") + field("Board ID", "NA") + field("PCB ID", "NA") +
         field("BOM ID", "NA") + field("Die ID", "NA") + field("PCIe Bus Info", mcu ? "NA" : bus_id(npu)) +
         field("Firmware Version", devices.version);
}

}  // namespace

std::string table(const Devices& devices) {
  std::string text = "+" + std::string(96, '-') + "+\n";
  text += format("| npu-smi %-24s Version: %-53s|\n", devices.version.c_str(), devices.version.c_str());
  text += thin;
  text +=
      "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n";
  text +=
      "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n";
  text += thick;
  for (int npu = 0; npu < devices.count; ++npu) {
    text += format("| %-5d %-19s | %-13s | %-11s %-17s %-20s |\n", npu, devices.chip.c_str(), "OK", "0.0",
                   "0", usage(0, 0).c_str());
    text += format("| %-25s | %-13s | %-11s %-17s %-20s |\n", "0", bus_id(npu).c_str(), "0",
                   usage(0, 0).c_str(), usage(0, devices.memory_mb).c_str());
    text += thick;
  }
  text += thin;
  text +=
      "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |\n";
  text += thick;
  for (int npu = 0; npu < devices.count; ++npu) {
    text += format("| %-95s|\n", ("No running processes found in NPU " + std::to_string(npu)).c_str());
    text += thick;
  }
  return text;
}

std::string mapping(const Devices& devices) {
  const auto row = [](const std::string& npu, const std::string& chip, const std::string& logic,
                      const std::string& name) {
    return format("\t%-30s %-30s %-30s %-30s\n", npu.c_str(), chip.c_str(), logic.c_str(), name.c_str());
  };
  std::string text = row("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name");
  for (int npu = 0; npu < devices.count; ++npu) {
    const std::string id = std::to_string(npu);
    text += row(id, "0", id, "Ascend " + devices.chip) + row(id, "1", "-", "Mcu");
  }
  return text;
}

std::string list(const Devices& devices) {
  std::string text = field("Total Count", std::to_string(devices.count));
  for (int npu = 0; npu < devices.count; ++npu) {
    text += "\n" + field("NPU ID", std::to_string(npu)) + field("Product Name", "emulated") +
            field("Serial Number", format("EMULATED%04d", npu)) + field("Chip Count", "1");
  }
  return text;
}

std::string health(const Devices& devices, std::optional<int> npu, std::optional<int> chip) {
  if (chip)
    return field("Health Status", "OK") + field("Error Code", "NA") + field("Error Information", "NA");
  return of_each(devices, npu, [](int) { return field("Health", "OK"); });
}

std::string board(const Devices& devices, std::optional<int> npu, std::optional<int> chip) {
  if (chip) return chip_board(devices, npu.value_or(0), *chip);
  return of_each(devices, npu, [&](int id) {
    return (npu ? field("NPU ID", std::to_string(id)) : "") + field("Product Name", "emulated") +
           field("Model", "NA") + field("Manufacturer", "emulated") +
           field("Serial Number", format("EMULATED%04d", id)) + field("Software Version", devices.version) +
           field("Firmware Version", devices.version) + field("Board ID", "NA") + field("PCB ID", "NA") +
           field("BOM ID", "NA") + field("PCIe Bus Info", bus_id(id)) + field("Chip Count", "1") +
           field("Faulty Chip Count", "0");
  });
}

}  // namespace emucann::npu_smi
