#include "host/gate/history/history.h"

#include <algorithm>
#include <cmath>

namespace ferry::gate {

namespace {

bool is_timed(const HistoryEntry& entry) { return entry.seconds[Side::current] > 0; }

// A board reports its governor only with a measurement.
bool is_same_place(const HistorySeries& series, const HistoryEntry& entry) {
  const Environment &a = series.environment, &b = entry.environment;
  const bool same_governor = a.governor == b.governor || a.governor.empty() || b.governor.empty();
  const bool same_method =
      !is_timed(entry) || std::ranges::none_of(series.entries, is_timed) || series.method.is_comparable(entry.method);
  return series.target == entry.target && same_method && a.board == b.board && a.processor == b.processor &&
         a.kernel == b.kernel && same_governor;
}

void find_changes(HistorySeries& series) {
  std::vector<double> logarithms;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < series.entries.size(); ++i) {
    const double seconds = series.entries[i].seconds[Side::current];
    if (!(seconds > 0) || !std::isfinite(seconds)) continue;
    logarithms.push_back(std::log(seconds));
    places.push_back(i);
  }
  // Only the latest are analysed where there are too many.
  const std::size_t first = logarithms.size() - std::min(logarithms.size(), stats::kMostForChangePoints);
  Result<std::vector<stats::ChangePoint>> found = stats::change_points(std::span(logarithms).subspan(first));
  if (!found.is_ok()) return;
  series.changes = std::move(found.value());
  for (stats::ChangePoint& change : series.changes) {
    change.index = places[first + change.index];
    change.before = std::exp(change.before);
    change.after = std::exp(change.after);
  }
}

}  // namespace

std::vector<HistorySeries> series_of(std::vector<HistoryEntry> history) {
  std::vector<HistorySeries> all;
  for (HistoryEntry& entry : history) {
    auto series = std::ranges::find_if(all, [&](const HistorySeries& one) { return is_same_place(one, entry); });
    if (series == all.end()) {
      all.push_back({entry.target, entry.environment, entry.method, {}, {}});
      series = std::prev(all.end());
    }
    if (series->environment.governor.empty()) series->environment.governor = entry.environment.governor;
    if (is_timed(entry)) series->method = entry.method;
    series->entries.push_back(std::move(entry));
  }
  std::ranges::for_each(all, find_changes);
  return all;
}

}  // namespace ferry::gate
