// The state of a search on a terminal: a few lines that are written again after each trial.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/tune/tune.h"

namespace ferry::cli {

// Returns the lines for a terminal of so many columns. `budget_seconds` 0: there is no limit.
std::vector<std::string> live_lines(const tune::Progress& progress, double budget_seconds, std::size_t columns);

class LiveTable {
 public:
  // Nothing is shown unless standard error is a terminal that can move its cursor.
  explicit LiveTable(double budget_seconds);
  ~LiveTable() { clear(); }
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  void show(const tune::Progress& progress);
  // Removes the lines: before something else is printed, and at the end.
  void clear();

 private:
  double budget_seconds_;
  bool is_shown_;
  std::size_t lines_ = 0;  // on the terminal now
};

}  // namespace ferry::cli
