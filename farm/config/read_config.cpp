#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/printable.h"
#include "farm/config/farm_config.h"
#include "farm/core/selector/board_name.h"
#include "farm/hooks/command.h"
#include "ferry/error.h"
#include "host/client/connect/ssh_address.h"
#include "host/toml/toml_file.h"
#include "host/toml/toml_reader.h"

namespace ferry::farm {
namespace {

// As in the protocol (farm/protocol/queries.h).
constexpr std::size_t kMaxNameText = 64, kMaxValueText = 256, kMaxBoardTags = 32;
constexpr std::int64_t kMaxMinutes = 60 * 24 * 30, kMaxHookSeconds = 600, kMaxRelays = 4096, kMaxMegabytes = 100'000,
                       kMaxModuleMegabytes = 16'777'216;
constexpr double kMaxWeight = 1000;
constexpr BoardState kStates[] = {BoardState::good, BoardState::unknown,     BoardState::suspect,
                                  BoardState::bad,  BoardState::maintenance, BoardState::retired};

std::string state_names() {
  std::string names;
  for (const BoardState state : kStates) names += (names.empty() ? "" : ", ") + std::string(board_state_name(state));
  return names;
}

void read_health(TomlReader& health, FarmConfig& config) {
  std::int64_t minutes = std::chrono::duration_cast<std::chrono::minutes>(config.health_idle).count();
  health.read("checks", config.has_health_checks);
  health.read("idle_minutes", 1, kMaxMinutes, minutes);
  config.health_idle = std::chrono::minutes(minutes);
}

void read_timeout(TomlReader& hook, std::chrono::milliseconds& timeout) {
  std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
  hook.read("timeout_seconds", 1, kMaxHookSeconds, seconds);
  timeout = std::chrono::seconds(seconds);
}

void read_command(TomlReader& hook, const char* key, const std::map<std::string, std::string>& placeholders,
                  std::vector<std::string>& command) {
  hook.read(key, kMaxCommandWords, kMaxWordBytes, command);
  const auto filled = fill_in(command, placeholders);
  if (!filled.is_ok()) hook.refuse(key, filled.status().message());
}

void read_notify(TomlReader& notify, FarmConfig& config) {
  read_command(notify, "command", {{"board", ""}, {"state", ""}}, config.notify.command);
  read_timeout(notify, config.notify.timeout);
  std::string url;
  notify.read("webhook", kMaxUrlBytes, url);
  if (!url.empty()) {
    const auto webhook = parse_webhook_url(url);
    if (webhook.is_ok()) config.notify.webhook = webhook.value();
    if (!webhook.is_ok()) notify.refuse("webhook", webhook.status().message());
  }
  std::vector<std::string> states;
  notify.read("states", std::size(kStates), kMaxNameText, states);
  if (states.empty()) return;
  config.notify_states.clear();
  for (const std::string& name : states) {
    const auto* state = std::ranges::find(kStates, name, [](BoardState one) { return board_state_name(one); });
    if (state == std::end(kStates))
      return notify.refuse("states", "expected names of " + state_names() + ", got '" + printable(name) + "'");
    config.notify_states.insert(*state);
  }
}

void read_power(TomlReader& power, FarmConfig& config) {
  read_command(power, "command", {{"board", ""}}, config.power.command);
  read_timeout(power, config.power.timeout);
}

void read_relay(TomlReader& relay, FarmConfig& config) {
  constexpr std::int64_t kMegabyte = 1 << 20;
  RelayLimits& limits = config.relay;
  auto relays = static_cast<std::int64_t>(limits.relays);
  std::int64_t one = static_cast<std::int64_t>(limits.bytes_per_second) / kMegabyte;
  std::int64_t all = static_cast<std::int64_t>(limits.all_bytes_per_second) / kMegabyte;
  std::int64_t minutes = std::chrono::duration_cast<std::chrono::minutes>(limits.idle).count();
  relay.read("relays", 0, kMaxRelays, relays);
  relay.read("megabytes_per_second", 1, kMaxMegabytes, one);
  relay.read("all_megabytes_per_second", 1, kMaxMegabytes, all);
  relay.read("idle_minutes", 1, kMaxMinutes, minutes);
  limits.relays = static_cast<std::size_t>(relays);
  limits.bytes_per_second = static_cast<std::uint64_t>(one * kMegabyte);
  limits.all_bytes_per_second = static_cast<std::uint64_t>(all * kMegabyte);
  limits.idle = std::chrono::minutes(minutes);
}

void read_modules(TomlReader& modules, FarmConfig& config) {
  constexpr std::uint64_t kMegabyte = 1 << 20;
  auto megabytes = static_cast<std::int64_t>(config.module_quota / kMegabyte);
  modules.read("megabytes", 1, kMaxModuleMegabytes, megabytes);
  config.module_quota = static_cast<std::uint64_t>(megabytes) * kMegabyte;
}

Status read_weights(const std::string& path, const toml::table& table, FarmConfig& config) {
  if (table.size() > kMaxConfigHolders)
    return toml_failure(path, table.source(),
                        format("weights: expected at most %zu holders, got %zu", kMaxConfigHolders, table.size()));
  for (const auto& [key, node] : table) {
    const std::string holder(key.str());
    const std::string name = "weights." + printable(holder.substr(0, kMaxNameText));
    if (holder.empty() || holder.size() > kMaxValueText)
      return toml_failure(path, key.source(),
                          format("%s: expected a name of 1 to %zu bytes", name.c_str(), kMaxValueText));
    const auto weight = node.is_number() ? node.value<double>() : std::nullopt;
    if (!weight || !(*weight > 0 && *weight <= kMaxWeight))
      return toml_failure(path, node.source(),
                          format("%s: expected a number above 0, and at most %g", name.c_str(), kMaxWeight));
    config.weights[holder] = *weight;
  }
  return {};
}

Status read_board(const std::string& path, const std::string& name, const toml::table& table, FarmConfig& config) {
  TomlReader reader(path, "boards." + name, table);
  BoardConfig& board = config.boards[name];
  reader.read("tags", kMaxBoardTags, kMaxValueText, board.tags);
  for (const auto& [tag, value] : board.tags)
    if (tag.empty() || tag.size() > kMaxNameText)
      reader.refuse("tags", format("expected names of 1 to %zu bytes", kMaxNameText));
  reader.read("machine", kMaxNameText, board.machine);
  reader.read("share_machine", board.shares_machine);
  read_command(reader, "power", {{"board", ""}}, board.power);
  reader.read("address", kMaxValueText, board.address);
  if (!board.address.empty()) {
    try {
      session::parse_ssh_address(board.address);
    } catch (const Error& error) {
      reader.refuse("address", printable(error.what()));
    }
  }
  return reader.finish();
}

Status read_boards(const std::string& path, const toml::table& table, FarmConfig& config) {
  if (table.size() > kMaxConfigBoards)
    return toml_failure(path, table.source(),
                        format("boards: expected at most %zu of them, got %zu", kMaxConfigBoards, table.size()));
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (const Status fine = check_board_name(name); !fine.is_ok())
      return toml_failure(path, key.source(), fine.message());
    const toml::table* board = node.as_table();
    if (board == nullptr)
      return toml_failure(path, key.source(), "expected a board, as in [boards." + name + "], got a value");
    FERRY_TRY(read_board(path, name, *board, config));
  }
  return {};
}

constexpr struct {
  const char* name;
  void (*read)(TomlReader& section, FarmConfig& config);
} kSections[] = {{"health", read_health},
                 {"notify", read_notify},
                 {"power", read_power},
                 {"relay", read_relay},
                 {"modules", read_modules}};

Result<FarmConfig> read_table(const std::string& path, const toml::table& root) {
  FarmConfig config;
  TomlReader reader(path, "", root);
  for (const auto& [name, read_section] : kSections) {
    const toml::table* table = reader.table(name);
    if (table == nullptr) continue;
    TomlReader section(path, name, *table);
    read_section(section, config);
    FERRY_TRY(section.finish());
  }
  const toml::table *weights = reader.table("weights"), *boards = reader.table("boards");
  FERRY_TRY(reader.finish());
  if (weights != nullptr) FERRY_TRY(read_weights(path, *weights, config));
  if (boards != nullptr) FERRY_TRY(read_boards(path, *boards, config));
  return config;
}

}  // namespace

Result<FarmConfig> parse_farm_config(std::string_view text, const std::string& path) {
  FERRY_ASSIGN(const toml::table root, parse_toml(text, path, kMaxConfigBytes));
  return read_table(path, root);
}

Result<FarmConfig> read_farm_config(const std::string& path) {
  FERRY_ASSIGN(const std::string text, read_toml_text(path, kMaxConfigBytes));
  return parse_farm_config(text, path);
}

PowerHook power_of(const FarmConfig& config, const std::string& board) {
  PowerHook hook = config.power;
  const auto own = config.boards.find(board);
  if (own != config.boards.end() && !own->second.power.empty()) hook.command = own->second.power;
  return hook;
}

}  // namespace ferry::farm
