// Tests what a board reports of itself, from files that look like those of a board.
#include "farm/board/board_state.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "farm/protocol/codec.h"

namespace ferry::device {
namespace {

namespace fs = std::filesystem;

struct Root {
  Root() {
    char pattern[] = "/tmp/ferry-test-board-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    path = pattern;
  }
  ~Root() { fs::remove_all(path); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(path + file).parent_path());
    std::ofstream(path + file) << text;
  }

  std::string path;
};

TEST_CASE("a heartbeat has the hottest sensor and the load") {
  const Root root;
  root.write("/sys/class/thermal/thermal_zone0/temp", "41000\n");
  root.write("/sys/class/thermal/thermal_zone1/temp", "48312\n");
  root.write("/sys/class/thermal/thermal_zone2/temp", "-274000\n");
  root.write("/sys/class/thermal/thermal_zone3/temp", "nonsense\n");
  root.write("/proc/loadavg", "1.25 0.50 0.10 2/300 4711\n");
  const auto heartbeat = read_heartbeat(root.path);
  CHECK(heartbeat.millidegrees == 48'312);
  CHECK(heartbeat.load_permille == 1250);
  CHECK(heartbeat.boot_ms > 0);
}

TEST_CASE("a board without sensors reports no temperature") {
  const Root root;
  const auto heartbeat = read_heartbeat(root.path);
  CHECK_FALSE(heartbeat.millidegrees);
  CHECK(heartbeat.load_permille == 0);
}

TEST_CASE("a temperature below zero is one") {
  const Root root;
  root.write("/sys/class/thermal/thermal_zone0/temp", "-5000\n");
  CHECK(read_heartbeat(root.path).millidegrees == -5'000);
}

TEST_CASE("the clock runs and the boot id stays") {
  CHECK(boot_now() <= boot_now());
  CHECK(read_boot_id() == read_boot_id());
}

TEST_CASE("systems that were started apart have different boot ids, and one that does not know its own has none") {
  const Root first, second;
  CHECK(read_boot_id(first.path) == 0);
  first.write("/proc/sys/kernel/random/boot_id", "6f8f1d2e-7a3a-4d58-9b0c-0123456789ab\n");
  second.write("/proc/sys/kernel/random/boot_id", "6f8f1d2e-7a3a-4d58-9b0c-0123456789ac\n");
  CHECK(read_boot_id(first.path) != 0);
  CHECK(read_boot_id(first.path) != read_boot_id(second.path));
}

TEST_CASE("a description names the devices besides the CPU, with their architectures") {
  DeviceFacts facts;
  facts.devices = {{"cpu", "Cortex-A78AE", 1}, {"cuda", "Orin (sm_87)", 2, "sm_87"}, {"opencl", "Mali-G52", 3}};
  const auto described = describe_board(facts, {}).accelerators;
  REQUIRE(described.size() == 2);
  CHECK(described[0].kind == "cuda");
  CHECK(described[0].arch == "sm_87");
  CHECK(described[1].kind == "opencl");
  CHECK(described[1].arch.empty());
}

TEST_CASE("a description of any length fits into a first request") {
  DeviceFacts facts;
  facts.arch = facts.cpu_name = facts.server_version = std::string(5000, 'x');
  facts.features.assign(1000, std::string(100, 'y'));
  facts.devices.assign(100, {"opencl", "a device", 1, std::string(500, 'a')});
  FarmOptions options;
  options.tags.assign(16, {std::string(64, 'n'), std::string(192, 'v')});
  const farm::wire::Join join{
      1, 1, std::string(64, 'b'), 1, 1, 1, {}, std::string(64, 'a'), describe_board(facts, options)};
  const auto bytes = farm::wire::encode(join);
  CHECK(bytes.size() <= farm::wire::kMaxFirstBody);
  CHECK(farm::wire::decode<farm::wire::Join>(bytes).is_ok());
}

}  // namespace
}  // namespace ferry::device
