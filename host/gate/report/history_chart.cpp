#include "host/gate/report/history_chart.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/quantity_text.h"
#include "host/gate/report/history_words.h"
#include "host/gate/report/words.h"
#include "host/text/chart.h"

namespace ferry::gate {

namespace {

using namespace chart;

constexpr double kHistoryHeight = 300;
// Labels of commits that are closer to each other than this would overlap.
constexpr double kLabelWidth = 110;
// The least range of an axis of counts, as a share of them.
constexpr double kLeastCountRange = 2e-3;

bool is_positive(double value) { return value > 0 && std::isfinite(value); }

// A measured entry.
struct Point {
  const HistoryEntry* entry;
  std::size_t index;  // the entry's index in the series
  double value;       // seconds or instructions
};

struct Points {
  std::vector<Point> all;
  bool are_times = true;
};

Points points_of(const HistorySeries& series) {
  Points points;
  points.are_times = std::ranges::any_of(
      series.entries, [](const HistoryEntry& entry) { return is_positive(entry.seconds[Side::current]); });
  for (std::size_t i = 0; i < series.entries.size(); ++i) {
    const HistoryEntry& entry = series.entries[i];
    const double value = points.are_times ? entry.seconds[Side::current] : entry.instructions;
    if (is_positive(value)) points.all.push_back({&entry, i, value});
  }
  if (points.all.size() > kMostCharted)
    points.all.erase(points.all.begin(), points.all.end() - static_cast<std::ptrdiff_t>(kMostCharted));
  return points;
}

std::string value_text(const Points& points, double value) {
  return points.are_times ? seconds_text(value) : format("%.0f instructions", value);
}

// Counts repeat exactly, and a difference of a few instructions should not fill the chart.
Axis value_axis(const Points& points, const std::vector<double>& shown) {
  Axis axis = axis_around(shown, kHistoryHeight - kBottom, kTop);
  if (points.are_times) return axis;
  const double least = std::max(1.0, kLeastCountRange * axis.high);
  const double missing = std::max(0.0, least - (axis.high - axis.low));
  axis.low = std::max(axis.low - missing / 2, 0.0);
  axis.high += missing / 2;
  return axis;
}

// Returns the place of an entry among the points: that of the first one at or after it.
std::size_t place_of(const Points& points, std::size_t index) {
  return static_cast<std::size_t>(std::ranges::lower_bound(points.all, index, {}, &Point::index) - points.all.begin());
}

// Whether the entry has an interval of its time: that of the change, around the baseline's time of the same run.
bool has_interval(const HistoryEntry& entry) {
  return is_positive(entry.seconds[Side::baseline]) && is_bounded(entry.change) && entry.change.low > 0;
}

void write_intervals(html::Html& html, const Points& points, const Axis& commits, const Axis& values) {
  if (!points.are_times) return;
  for (std::size_t i = 0; i < points.all.size(); ++i) {
    const HistoryEntry& entry = *points.all[i].entry;
    if (!has_interval(entry)) continue;
    const double x = commits.place(static_cast<double>(i));
    write_line(html, "spread", x, values.place(entry.seconds[Side::baseline] * entry.change.low), x,
               values.place(entry.seconds[Side::baseline] * entry.change.high));
  }
}

void write_levels(html::Html& html, const HistorySeries& series, const Points& points, const Axis& commits,
                  const Axis& values) {
  if (!points.are_times || series.changes.empty()) return;
  std::size_t from = 0;
  double label_end = 0;
  for (std::size_t i = 0; i <= series.changes.size(); ++i) {
    const bool is_last = i == series.changes.size();
    const double level = is_last ? series.changes.back().after : series.changes[i].before;
    const std::size_t end = is_last ? points.all.size() : place_of(points, series.changes[i].index);
    const double edge = commits.place(static_cast<double>(end) - 0.5);
    if (end > from) {
      const double y = values.place(level);
      write_line(html, "level", commits.place(static_cast<double>(from) - 0.5), y, edge, y);
    }
    if (!is_last && end > 0 && end < points.all.size()) {
      write_line(html, "tolerance", edge, kTop, edge, kHistoryHeight - kBottom);
      if (edge - label_end > kLabelWidth / 2) {
        write_text(html, percent_change(series.changes[i].after / level), edge + 4, kTop + 10, "start");
        label_end = edge;
      }
    }
    from = std::max(from, end);
  }
}

void write_points(html::Html& html, const Points& points, const Axis& commits, const Axis& values) {
  for (std::size_t i = 0; i < points.all.size(); ++i) {
    const HistoryEntry& entry = *points.all[i].entry;
    const bool is_bad = severity_of(entry.verdict) == Severity::bad;
    const double x = commits.place(static_cast<double>(i)), y = values.place(points.all[i].value);
    const auto mark = html.open("g", {{"class", is_bad ? "current" : "baseline"}});
    html.element("title",
                 commit_of(entry) + ": " + value_text(points, points.all[i].value) + ", " + to_text(entry.verdict));
    html.element("path", "", {{"class", "dots"}, {"d", is_bad ? diamond(x, y) : circle(x, y)}});
  }
}

std::string description_of(const HistorySeries& series, const Points& points) {
  std::string text = std::to_string(points.all.size()) +
                     (points.all.size() == 1 ? " measured entry" : " measured entries") + ", from " +
                     value_text(points, points.all.front().value) + " to " +
                     value_text(points, points.all.back().value) + ".";
  for (const stats::ChangePoint& change : series.changes) {
    text += " The level changed by " + percent_change(change.after / change.before) + " at " +
            commit_of(series.entries[change.index]) + ".";
  }
  return text;
}

}  // namespace

void write_history_chart(html::Html& html, const HistorySeries& series, const std::string& id) {
  const Points points = points_of(series);
  if (points.all.empty()) return;
  std::vector<double> shown;
  for (const Point& point : points.all) {
    shown.push_back(point.value);
    if (!points.are_times || !has_interval(*point.entry)) continue;
    for (const double ratio : {point.entry->change.low, point.entry->change.high})
      if (is_positive(point.entry->seconds[Side::baseline] * ratio))
        shown.push_back(point.entry->seconds[Side::baseline] * ratio);
  }
  const Axis values = value_axis(points, shown);
  const std::string description = description_of(series, points);
  write_figure(
      html, kHistoryHeight,
      {id, points.are_times ? "Time of each commit" : "Instructions of each commit", description,
       "Diamonds are runs in which the case failed, circles all others. Vertical lines are the interval of the "
       "change, around the baseline's time of the same run; horizontal ones are levels, which change at dashed "
       "lines. " +
           description},
      [&] {
        const double left =
            write_vertical_axis(html, values, points.are_times ? time_labels : count_labels, kWidth - kRight);
        const Axis commits{-0.5, static_cast<double>(points.all.size()) - 0.5, left, kWidth - kRight};
        write_levels(html, series, points, commits, values);
        write_intervals(html, points, commits, values);
        write_points(html, points, commits, values);
        write_text(html, commit_of(*points.all.front().entry), left, kHistoryHeight - 8, "start");
        if (points.all.size() > 1)
          write_text(html, commit_of(*points.all.back().entry), kWidth - kRight, kHistoryHeight - 8, "end");
      });
}

}  // namespace ferry::gate
