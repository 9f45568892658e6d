#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace emucann {
namespace {

using Variables = std::vector<std::pair<const char*, const char*>>;

constexpr const char* names[] = {"EMUCANN_DEVICES", "EMUCANN_MEMORY_MB", "EMUCANN_SOC",
                                 "EMUCANN_THREADS", "EMUCANN_FAULT",     "ASCEND_RT_VISIBLE_DEVICES"};

Config config_with(const Variables& variables) {
  for (const char* name : names) unsetenv(name);
  for (const auto& [name, value] : variables) setenv(name, value, 1);
  return config_from_environment();
}

TEST(Config, HasDefaults) {
  const Config config = config_with({});
  EXPECT_EQ(config.error, "");
  EXPECT_EQ(config.devices, 1);
  EXPECT_EQ(config.memory_bytes, std::size_t{4} << 30);
  EXPECT_EQ(config.soc, "Ascend910B3");
  EXPECT_EQ(config.threads, 1);
  EXPECT_EQ(config.fault.kind, Fault::Kind::none);
}

TEST(Config, AnEmptyVariableIsAnAbsentOne) {
  const Config config = config_with({{"EMUCANN_DEVICES", ""}, {"EMUCANN_FAULT", ""}});
  EXPECT_EQ(config.error, "");
  EXPECT_EQ(config.devices, 1);
}

TEST(Config, ReadsEachVariable) {
  const Config config = config_with({{"EMUCANN_DEVICES", "16"},
                                     {"EMUCANN_MEMORY_MB", "16"},
                                     {"EMUCANN_SOC", "Ascend910B4"},
                                     {"EMUCANN_THREADS", "8"},
                                     {"EMUCANN_FAULT", "flip-h2d:3"}});
  EXPECT_EQ(config.error, "");
  EXPECT_EQ(config.devices, 16);
  EXPECT_EQ(config.memory_bytes, std::size_t{16} << 20);
  EXPECT_EQ(config.soc, "Ascend910B4");
  EXPECT_EQ(config.threads, 8);
  EXPECT_EQ(config.fault.kind, Fault::Kind::flip_host_to_device);
  EXPECT_EQ(config.fault.nth, 3u);
}

TEST(Config, AProcessSeesTheDevicesThatAreNamed) {
  struct Case {
    const char* visible;
    int devices;
  };
  for (const auto& [visible, devices] : {Case{"", 4}, Case{"0", 1}, Case{"1,3", 2}, Case{"0,1,2,3", 4},
                                         Case{"0,4,1", 1}, Case{"2,2", 1}, Case{"0, 1", 1}, Case{"4", 0}}) {
    const Config config = config_with({{"EMUCANN_DEVICES", "4"}, {"ASCEND_RT_VISIBLE_DEVICES", visible}});
    EXPECT_EQ(config.error, "");
    EXPECT_EQ(config.devices, devices) << visible;
    EXPECT_EQ(config.installed_devices, 4) << visible;
  }
}

TEST(Config, SaysInOneLineWhatIsWrong) {
  ASSERT_EQ(config_with({{"EMUCANN_DEVICES", "1"}}).error, "");
  const struct {
    const char* name;
    const char* value;
    const char* expected;
  } cases[] = {
      {"EMUCANN_DEVICES", "0", "a whole number from 1 to 16"},
      {"EMUCANN_DEVICES", "17", "a whole number from 1 to 16"},
      {"EMUCANN_DEVICES", "-1", "a whole number from 1 to 16"},
      {"EMUCANN_DEVICES", "two", "a whole number from 1 to 16"},
      {"EMUCANN_DEVICES", "2 ", "a whole number from 1 to 16"},
      {"EMUCANN_DEVICES", "99999999999999999999", "a whole number from 1 to 16"},
      {"EMUCANN_MEMORY_MB", "15", "a whole number from 16 to 1048576"},
      {"EMUCANN_MEMORY_MB", "1048577", "a whole number from 16 to 1048576"},
      {"EMUCANN_MEMORY_MB", "4G", "a whole number from 16 to 1048576"},
      {"EMUCANN_THREADS", "0", "a whole number from 1 to 1024"},
      {"EMUCANN_FAULT", "flip", "flip-h2d:N, flip-d2h:N or stall:STREAM:MICROSECONDS, in whole numbers"},
  };
  for (const auto& one : cases) {
    const std::string error = config_with({{one.name, one.value}}).error;
    EXPECT_EQ(error, std::string(one.name) + "=" + one.value + ": expected " + one.expected);
  }
}

TEST(Fault, IsParsed) {
  const Fault to_host = parse_fault("flip-d2h:1");
  EXPECT_EQ(to_host.kind, Fault::Kind::flip_device_to_host);
  EXPECT_EQ(to_host.nth, 1u);
  const Fault stall = parse_fault("stall:0:250000");
  EXPECT_EQ(stall.kind, Fault::Kind::stall);
  EXPECT_EQ(stall.nth, 0u);
  EXPECT_EQ(stall.microseconds, 250000u);
}

TEST(Fault, ThatCanNotBeReadIsNamed) {
  for (const char* text :
       {"", "flip-h2d", "flip-h2d:", "flip-h2d:0", "flip-h2d:x", "flip-h2d:1:2", "FLIP-H2D:1", "stall:1",
        "stall:1:0", "stall::5", "stall:x:5", "stall:1:2:3", "flip-d2d:1"}) {
    try {
      parse_fault(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const std::invalid_argument& problem) {
      const std::string message = problem.what();
      EXPECT_EQ(message.find("EMUCANN_FAULT=" + std::string(text) + ": "), 0u) << message;
      EXPECT_NE(message.find("expected"), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace emucann
