// What the runtime does with its settings. They are read once a process: each case is a child.
#include "runtime_support.h"

namespace emucann::testing {
namespace {

TEST(Settings, SayHowManyDevicesThereAreAndTheirName) {
  in_child({{"EMUCANN_DEVICES", "3"}, {"EMUCANN_SOC", "Ascend910B4"}, {"EMUCANN_MEMORY_MB", "32"}}, [] {
    EXPECT_ACL_OK(aclInit(nullptr));
    uint32_t count = 0;
    EXPECT_ACL_OK(aclrtGetDeviceCount(&count));
    EXPECT_EQ(count, 3u);
    EXPECT_STREQ(aclrtGetSocName(), "Ascend910B4");
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    EXPECT_EQ(total, std::size_t{32} << 20);
    EXPECT_EQ(free, total);
  });
}

TEST(Settings, ThatCanNotBeReadStopTheStart) {
  in_child({{"EMUCANN_DEVICES", "1"}}, [] { EXPECT_ACL_OK(aclInit(nullptr)); });
  for (const auto& [name, value] :
       Variables{{"EMUCANN_DEVICES", "many"}, {"EMUCANN_MEMORY_MB", "1"}, {"EMUCANN_FAULT", "flip"}}) {
    in_child({{name, value}}, [name = name, value = value] {
      const std::string text = std::string(name) + "=" + value + ": expected";
      expect_refused(aclInit(nullptr), {text.c_str()});
      uint32_t count = 0;
      expect_refused(aclrtGetDeviceCount(&count), {text.c_str()});
      expect_refused(aclrtSetDevice(0), {text.c_str()});
    });
  }
}

}  // namespace
}  // namespace emucann::testing
