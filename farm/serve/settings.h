// Applies farm.toml to a tracker, and again when it has changed.
#pragma once

#include <functional>
#include <string>

#include "farm/config/config_changes.h"
#include "farm/hooks/hook_runner.h"
#include "farm/tracker/tracker.h"

namespace ferry::farm {

class Settings {
 public:
  using Log = std::function<void(const std::string&)>;

  // Without a path everything has its default.
  static Result<Settings> read(const std::string& path, Log log);

  const FarmConfig& config() const { return config_; }
  // Applies everything. The tracker must schedule.
  void apply(Tracker& tracker) const;
  // Reads the file again and applies what has changed. A file with a mistake changes nothing.
  void reload(Tracker* tracker);
  // A board has come into another state: tells whom the file names, and switches the board off and on if it has failed.
  void on_state(HookRunner& hooks, const std::string& board, BoardState before, BoardState after,
                const std::string& reason) const;

 private:
  Settings(std::string path, Log log) : path_(std::move(path)), log_(std::move(log)) {}
  void apply_board(Tracker& tracker, const std::string& name) const;
  void apply_weight(Tracker& tracker, const std::string& holder) const;

  std::string path_;
  Log log_;
  FarmConfig config_;
};

}  // namespace ferry::farm
