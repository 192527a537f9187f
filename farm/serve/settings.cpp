#include "farm/serve/settings.h"

#include <utility>

#include "base/unix_time.h"

namespace ferry::farm {
Result<Settings> Settings::read(const std::string& path, Log log) {
  Settings settings(path, std::move(log));
  if (path.empty()) return settings;
  FERRY_ASSIGN(settings.config_, read_farm_config(path));
  return settings;
}

void Settings::apply(Tracker& tracker) const {
  for (const auto& [name, board] : config_.boards) apply_board(tracker, name);
  for (const auto& [holder, weight] : config_.weights) tracker.set_weight(holder, weight);
}

void Settings::apply_board(Tracker& tracker, const std::string& name) const {
  const auto found = config_.boards.find(name);
  const BoardConfig board = found == config_.boards.end() ? BoardConfig() : found->second;
  const bool is_enrolled =
      tracker.describe_board({name, board.tags, board.machine, board.shares_machine, board.address});
  if (!is_enrolled && found != config_.boards.end())
    log_("board " + name + " of " + path_ + " is not enrolled yet: ferry farm enrol " + name);
}

void Settings::apply_weight(Tracker& tracker, const std::string& holder) const {
  const auto found = config_.weights.find(holder);
  tracker.set_weight(holder, found == config_.weights.end() ? 1 : found->second);
}

void Settings::reload(Tracker* tracker) {
  if (path_.empty()) return log_("there is no configuration to read again: --config names one");
  Result<FarmConfig> config = read_farm_config(path_);
  if (!config.is_ok()) return log_("nothing is changed: " + config.status().message());
  const ConfigChanges changes = diff(config_, config.value());
  config_ = std::move(config.value());
  for (const std::string& sentence : changes.sentences) log_(path_ + ": " + sentence);
  if (changes.sentences.empty()) log_(path_ + ": nothing has changed");
  if (changes.has_relay) log_("the limits of relays take effect when the tracker starts again");
  if (changes.has_modules) log_("the limit of modules takes effect when the tracker starts again");
  if (changes.has_health) log_("whether boards are checked is decided when the tracker starts; how often, from now on");
  if (tracker == nullptr) return;
  tracker->set_health_idle(config_.health_idle);
  for (const std::string& board : changes.boards) apply_board(*tracker, board);
  for (const std::string& holder : changes.holders) apply_weight(*tracker, holder);
}

void Settings::on_state(HookRunner& hooks, const std::string& board, BoardState before, BoardState after,
                        const std::string& reason) const {
  if (config_.notify_states.contains(after)) {
    const Status posted = hooks.notify(
        config_.notify, {board, board_state_name(after), board_state_name(before), reason, unix_milliseconds()});
    if (!posted.is_ok()) log_("nobody is told of board " + board + ": " + posted.message());
  }
  const PowerHook power = power_of(config_, board);
  if (after != BoardState::suspect || power.command.empty()) return;
  const Status posted = hooks.power_cycle(power, board, reason, [log = log_, board](const Status& done) {
    log("board " + board + (done.is_ok() ? " was switched off and on" : ": power cycling failed: " + done.message()));
  });
  if (!posted.is_ok()) log_("board " + board + " is not switched off and on: " + posted.message());
}

}  // namespace ferry::farm
