#include "host/gate/report/history_words.h"

#include <cmath>

#include "base/format.h"
#include "base/quantity_text.h"
#include "base/utf8.h"
#include "host/gate/report/words.h"

namespace ferry::gate {

namespace {

constexpr std::size_t kCommitBytes = 12, kModuleDigits = 8;

}  // namespace

std::string commit_of(const HistoryEntry& entry) {
  if (entry.label.empty()) return "module " + to_hex(entry.module.module).substr(0, kModuleDigits);
  return std::string(utf8_prefix(entry.label, kCommitBytes));
}

std::string change_text(const HistoryEntry& entry) {
  if (!(entry.seconds[Side::baseline] > 0)) return "";
  return change_text(entry.change);
}

std::string measured_text(const HistoryEntry& entry) {
  const double seconds = entry.seconds[Side::current];
  if (seconds > 0 && std::isfinite(seconds)) return seconds_text(seconds);
  return entry.instructions > 0 ? format("%.0f instructions", entry.instructions) : "";
}

std::string level_text(const HistorySeries& series, std::size_t entry) {
  for (const stats::ChangePoint& change : series.changes) {
    if (change.index == entry) return "from here " + percent_change(change.after / change.before);
  }
  return "";
}

}  // namespace ferry::gate
