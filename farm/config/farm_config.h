// farm.toml, in which an admin configures a farm. Everything in it is optional; docs/farm.example.toml shows all of it:
//
//     [health]
//     checks = true                       # boards are checked when they join, and then again and again
//     idle_minutes = 60                   # a board that nobody has used for so long is checked again
//
//     [notify]                            # of boards that come into one of these states
//     states = ["suspect", "bad"]
//     command = ["/usr/local/bin/tell", "{board} is {state}"]  # no shell; also FERRY_FARM_REASON etc. (hook_runner.h)
//     webhook = "https://chat.example.org/hooks/x"
//     timeout_seconds = 10
//
//     [power]                             # of all boards that have no command of their own
//     command = ["/usr/local/bin/cycle", "{board}"]
//     timeout_seconds = 60
//
//     [relay]                             # between clients and boards that cannot reach each other
//     relays = 64                         # at a time
//     megabytes_per_second = 32           # of one relay
//     all_megabytes_per_second = 64
//     idle_minutes = 60
//
//     [modules]                           # that 'ferry gate' keeps at the farm
//     megabytes = 4096                    # of all of them; the oldest that no baseline needs are deleted beyond it
//
//     [weights]                           # a holder of weight 2 gets twice the share of one without a weight, who has
//     1 anna = 2
//
//     [boards.pi-3]
//     tags = { bench = "", rack = "b2" }
//     machine = "shelf-1"                 # in place of what the board says; boards of one machine exclude each other,
//     share_machine = true                # unless they may be used together with the others
//     address = "ssh://pi@pi-3"           # nothing is installed there; without an address the board joins by itself
//     power = ["uhubctl", "--action", "cycle", "--ports", "3"]
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "farm/core/lease/records.h"
#include "farm/core/schedule/clock.h"
#include "farm/hooks/hook_runner.h"
#include "farm/protocol/modules.h"
#include "farm/relay/relay.h"

namespace ferry::farm {

struct BoardConfig {
  std::map<std::string, std::string> tags;
  std::string machine;  // empty: the board says itself on which one it is
  bool shares_machine = false;
  std::string address;             // ssh://...; empty: it joins by itself
  std::vector<std::string> power;  // empty: the command of all boards

  bool operator==(const BoardConfig&) const = default;
};

struct FarmConfig {
  bool has_health_checks = true;
  Duration health_idle = std::chrono::hours(1);
  NotifyHooks notify;
  std::set<BoardState> notify_states = {BoardState::suspect, BoardState::bad};
  PowerHook power;
  RelayLimits relay;
  std::uint64_t module_quota = wire::kDefaultModuleQuota;  // bytes
  std::map<std::string, double> weights;                   // by holder
  std::map<std::string, BoardConfig> boards;
};

inline constexpr std::size_t kMaxConfigBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxConfigBoards = 16'384;
inline constexpr std::size_t kMaxConfigHolders = 16'384;

// Returns how this board is switched off and on, which it may not be.
PowerHook power_of(const FarmConfig& config, const std::string& board);

// Both fail with invalid_argument; the message names the file, the line and the key, and what was expected there.
Result<FarmConfig> read_farm_config(const std::string& path);
Result<FarmConfig> parse_farm_config(std::string_view text, const std::string& path);

}  // namespace ferry::farm
