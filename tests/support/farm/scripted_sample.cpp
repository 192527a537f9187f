// The boards, leases and reports of a scripted farm.
#include <cmath>

#include "base/format.h"
#include "tests/support/farm/scripted_farm.h"

namespace ferry::test {

using namespace farm::wire;

namespace {

constexpr std::uint64_t kNow = 1'780'000'000'000;
constexpr std::uint64_t kHour = 3'600'000;
constexpr std::uint64_t kLargeId = 0xfedc'ba98'7654'3210;  // more than a double holds

DeviceListing make_board(const std::string& name, const std::string& model, const std::string& arch,
                         const std::string& state) {
  DeviceListing board;
  board.name = name;
  board.state = state;
  board.is_connected = state != "retired";
  board.millidegrees = 41'000 + static_cast<std::int32_t>(name.size() * 1'130);
  board.load_permille = static_cast<std::uint32_t>(name.size() * 170);
  board.description = {model,
                       arch,
                       "Cortex-A72",
                       "0.1.0",
                       (std::uint64_t{4} << 30) - 99'000'000,
                       4,
                       {"neon", "crc"},
                       {},
                       {{"bench", ""}, {"rack", "2"}}};
  return board;
}

// Two weeks of checks with some noise; the last ones of "memory" are slower.
std::vector<HealthListing> make_health() {
  std::vector<HealthListing> checks;
  for (std::uint64_t i = 0; i < 84; ++i) {
    const std::uint64_t round = i / 3;
    const char* job = i % 3 == 0 ? "compute" : i % 3 == 1 ? "memory" : "ping";
    const std::uint64_t baseline = i % 3 == 2 ? 240'000'000 : 1'850'000'000 + i % 3 * 900'000'000;
    double ratio = 1 + 0.012 * std::sin(static_cast<double>(i * i % 97));
    const bool is_slow = i % 3 == 1 && round >= 25;
    if (is_slow) ratio += 0.11;
    checks.push_back({i + 1, kNow - (28 - round) * 12 * kHour, job,
                      static_cast<std::uint64_t>(static_cast<double>(baseline) * ratio), baseline,
                      is_slow ? "failed" : "passed", 44'000 + static_cast<std::int32_t>(i * 131 % 9'000),
                      is_slow ? "11% slower than the baseline, also after cooling" : ""});
  }
  return {checks.rbegin(), checks.rend()};
}

HistoryListing make_ended(std::uint64_t lease, const std::string& holder, const std::string& board,
                          const std::string& reason, const std::string& failure_class) {
  const std::uint64_t end = kNow - (1000 - lease) * 1'700'000;
  return {lease,         holder, {"rpi4"}, {board},       50, LeaseKind::attached, end - 900'000,
          end - 840'000, end,    reason,   failure_class, ""};
}

}  // namespace

const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> kNames = {
      "<script>window.hacked=1</script>", "\"><img src=x onerror=hacked=1>",
      "' onmouseover='hacked=1",          "</td></table><h1>owned</h1>",
      "javascript:hacked=1//&lt;b&gt;",   "\x1b]0;owned\x07\x1b[31mred\x1b[0m",
      "abc\u202egnp.exe\u202c",           "../../etc/passwd?name=x&y=%00#z",
      "{{7*7}}${7*7}`id`\\u003cb\\u003e", std::string(64, 'W'),
      "\xff\xfe not UTF-8 \xc3",
  };
  return kNames;
}

void ScriptedFarm::add_sample() {
  const std::lock_guard lock(mutex_);
  for (int i = 1; i <= 6; ++i) {
    const std::string name = format("rpi4-%02d", i);
    boards_[name] = make_board(name, "Raspberry Pi 4 Model B Rev 1.4", "aarch64", i == 4 ? "suspect" : "good");
  }
  boards_["visionfive"] = make_board("visionfive", "StarFive VisionFive 2", "riscv64", "maintenance");
  boards_["odroid-xu4"] = make_board("odroid-xu4", "Hardkernel Odroid XU4", "armv7", "bad");
  boards_["jetson"] = make_board("jetson", "NVIDIA Jetson Orin Nano", "aarch64", "unknown");
  boards_["jetson"].description.accelerators = {{"cuda", "sm_87"}};
  boards_["jetson"].same_machine = {"rpi4-06", hostile_names()[0]};
  boards_["jetson"].blocked_by = hostile_names()[0];
  boards_["beagle"] = make_board("beagle", "BeagleBone Black", "armv7", "retired");
  boards_["rpi4-03"].is_throttled = true;
  boards_["rpi4-03"].millidegrees = 82'400;
  for (const std::string& name : hostile_names()) boards_[name] = make_board(name, name, "aarch64", "good");

  leases_[7] = {7, "uwe", {"rpi4-01"}, LeaseKind::attached, 25 * 60'000};
  leases_[8] = {8, "ci <b>nightly</b>", {"rpi4-02", "jetson"}, LeaseKind::reserved, 3 * kHour};
  leases_[kLargeId] = {kLargeId, hostile_names()[0], {hostile_names()[1]}, LeaseKind::attached, 90'000};
  for (const auto& [id, lease] : leases_) {
    for (const std::string& name : lease.boards) {
      boards_[name].lease = id;
      boards_[name].holder = lease.holder;
    }
  }
  queue_ = {{21, "uwe", {"rpi4-02"}, 50, 61'000, 1, 2 * kHour, {}},
            {22, "vera", {"arch=aarch64,memory>=2G", "cuda -arch=sm_87"}, 40, 12'000, 1, std::nullopt, {}},
            {kLargeId - 1, hostile_names()[1], {"tag:<i>bench</i>"}, 10, 5'000, 3, std::nullopt, hostile_names()[0]}};

  history_ = {make_ended(999, "uwe", "rpi4-01", "released", "user"),
              make_ended(998, "vera", "rpi4-04", "board_lost_lease", "infrastructure"),
              make_ended(997, hostile_names()[0], hostile_names()[1], "lease_expired", "timeout"),
              make_ended(996, "uwe", "rpi4-01", "client_gone", "user")};
  history_[1].text = "rpc_server has restarted";
  history_[2].text = hostile_names()[3];
  HistoryListing never = make_ended(995, "uwe", "", "wait_expired", "timeout");
  never.boards.clear();
  never.started_ms.reset();
  history_.push_back(never);

  for (const char* board : {"rpi4-01", "rpi4-04"}) health_[board] = make_health();
  sessions_["rpi4-01"] = {
      {3, kNow - kHour, 61'000, 999, "uwe", "ferry 0.1.0 uwe@laptop", ""},
      {2, kNow - 2 * kHour, 1'200, 998, "uwe", "ferry 0.1.0 uwe@laptop",
       "kernel 'conv3x3' crashed: SIGSEGV at 0x0000000000000010\n  conv3x3+0x84  conv.tc:12\n  in step 3 of 7\n"},
      {1, kNow - 3 * kHour, 400, 997, hostile_names()[0], hostile_names()[5],
       hostile_names()[3] + "\n" + hostile_names()[6]}};
  audit_ = {{1, kNow - 5 * kHour, "ada", "enrol", "rpi4-06", ""},
            {2, kNow - 4 * kHour, hostile_names()[2], "retire", "beagle", "the SD card is worn out"},
            {3, kNow - 3 * kHour, "ada", "maintain", "visionfive", hostile_names()[0]}};

  numbers_.boards_by_state = {{"good", 16}, {"suspect", 1}, {"bad \"quoted\" \\ \n", 1}};
  numbers_.boards_connected = 19;
  numbers_.boards_leased = 4;
  numbers_.requests_waiting = 3;
  numbers_.leases_granted = 999;
  numbers_.ended_by_reason = {{"released", 700}, {"lease_expired", 3}};
  numbers_.longest_commit_seconds = 0.0123;
  change();
}

}  // namespace ferry::test
