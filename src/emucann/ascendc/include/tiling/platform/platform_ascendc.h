// What the host side of vllm-ascend's binding asks of AscendC, CANN's kernel language, about the chip that a
// kernel is tiled for: declared from the calls, because no wheel carries the header. No AscendC kernel can
// run here, so an op that asks is refused before anything is computed.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace platform_ascendc {

enum class CoreMemType { L0_A, L0_B, L0_C, L1, L2, UB };

class PlatformAscendC {
 public:
  std::uint32_t GetCoreNum() const { return 0; }
  std::uint32_t GetCoreNumAic() const { return 0; }
  std::uint32_t GetCoreNumAiv() const { return 0; }
  std::uint32_t GetLibApiWorkSpaceSize() const { return 0; }
  void GetCoreMemSize(const CoreMemType&, std::uint64_t& bytes) const { bytes = 0; }
};

class PlatformAscendCManager {
 public:
  [[noreturn]] static PlatformAscendC* GetInstance() {
    throw std::runtime_error("emucann: an op that is tiled for an AscendC kernel is not implemented");
  }
};

}  // namespace platform_ascendc
