#include "farm/board/board_state.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>

#include "base/format.h"
#include "base/utf8.h"
#include "device-runtime/facts/proc_files.h"
#include "device-runtime/facts/watched_files.h"
#include "ferry/hash.h"

namespace ferry::device {
namespace {

// Boards have a few zones.
constexpr int kMaxZones = 32;
// Sensors that report less or more report nonsense.
constexpr std::int32_t kColdest = -100'000, kHottest = 250'000;
// Bits of the firmware's answer: frequency capped, throttled, soft temperature limit.
constexpr unsigned long kThrottledNow = 0xe;

std::string cut(const std::string& text, std::size_t most) { return std::string(utf8_prefix(text, most)); }

std::string read_model() {
  std::string model = read_small_file("/sys/firmware/devicetree/base/model");
  if (model.empty()) model = read_small_file("/sys/class/dmi/id/product_name");
  // The device tree ends its strings with a zero, other files with a line feed.
  while (!model.empty() && (model.back() == 0 || model.back() == '\n')) model.pop_back();
  return model;
}

}  // namespace

lease::BootTime boot_now() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return lease::BootTime(std::chrono::milliseconds(std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000));
}

std::uint64_t read_boot_id(const std::string& root) {
  const std::string text = read_small_file((root + "/proc/sys/kernel/random/boot_id").c_str());
  if (text.empty()) return 0;
  const Hash hash = blake2b({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < sizeof id; ++i) id = id << 8 | hash[i];
  return id;
}

farm::wire::Description describe_board(const DeviceFacts& facts, const FarmOptions& options) {
  using namespace farm::wire;
  Description description;
  description.model = cut(read_model(), kMaxText);
  description.arch = cut(facts.arch, kMaxName);
  description.cpu = cut(facts.cpu_name, kMaxText);
  description.server_version = cut(facts.server_version, kMaxName);
  description.memory_bytes = facts.memory_bytes;
  description.cores = facts.logical_cores;
  for (const std::string& feature : facts.features) {
    if (description.features.size() < kMaxFeatures) description.features.push_back(cut(feature, kMaxName));
  }
  for (const ComputeDevice& device : facts.devices) {
    if (device.kind != "cpu" && description.accelerators.size() < kMaxBoardDevices)
      description.accelerators.push_back({cut(device.kind, kMaxName), cut(device.arch, kMaxName)});
  }
  description.tags = options.tags;
  return description;
}

farm::wire::Heartbeat read_heartbeat(const std::string& root) {
  farm::wire::Heartbeat heartbeat;
  heartbeat.boot_ms = static_cast<std::uint64_t>(boot_now().time_since_epoch().count());
  for (int zone = 0; zone < kMaxZones; ++zone) {
    const std::string text = read_small_file((root + format("/sys/class/thermal/thermal_zone%d/temp", zone)).c_str());
    char* end = nullptr;
    const long millidegrees = std::strtol(text.c_str(), &end, 10);
    if (end == text.c_str() || millidegrees < kColdest || millidegrees > kHottest) continue;
    heartbeat.millidegrees = std::max<std::int32_t>(heartbeat.millidegrees.value_or(kColdest), millidegrees);
  }
  heartbeat.is_throttled = (pi_throttled().value_or(0) & kThrottledNow) != 0;
  const std::string load = read_small_file((root + "/proc/loadavg").c_str());
  char* point = nullptr;
  const unsigned long whole = std::strtoul(load.c_str(), &point, 10);
  const unsigned long hundredths = *point == '.' ? std::strtoul(point + 1, nullptr, 10) : 0;
  heartbeat.load_permille = static_cast<std::uint32_t>(std::min(whole * 1000 + hundredths * 10, 1'000'000UL));
  return heartbeat;
}

}  // namespace ferry::device
