// A farm's boards as remotes: "farm://FARM/SELECTOR[?priority=N&length=30m&wait=10m&job=TEXT]".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "farm/client/farm_access.h"

namespace ferry::farm {

inline constexpr std::string_view kFarmScheme = "farm://";

struct FarmAddress {
  std::string farm;  // a name in devices.toml, or HOST[:PORT], several separated by commas
  std::string selector;
  std::optional<std::uint32_t> priority;
  std::optional<std::chrono::milliseconds> length, wait;
  std::optional<std::string> job;  // what the board is for
};

// Throws Error with invalid_argument that says what was expected.
FarmAddress parse_farm_address(std::string_view text);

// Parses "90s", "30m", "1h30m" or "2d"; `what` is the beginning of a message.
std::chrono::milliseconds parse_time_span(std::string_view text, const std::string& what);
std::uint32_t parse_priority(std::string_view text, const std::string& what);

// `farm` as in FarmAddress; empty stands for the only farm of devices.toml. The key comes from `key_file`, otherwise
// from the farm's entry, or from FERRY_KEY_FILE. Throws Error that says what is wrong and how to fix it.
FarmAccess find_farm(std::string_view farm, const std::string& key_file);

// The farm whose boards the remote stands for, as find_farm() takes it; nothing for other remotes. Throws Error like
// parse_farm_address().
std::optional<std::string> farm_of(std::string_view remote);

}  // namespace ferry::farm
