#include "host/gate/report/charts.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/quantity_text.h"
#include "host/gate/report/words.h"
#include "host/text/chart.h"

namespace ferry::gate {

namespace {

using namespace chart;

// In units of the view box.
constexpr double kRowHeight = 46, kPairsHeight = 260;

std::vector<double> times_of(const CaseResult& result, Side side) {
  std::vector<double> times;
  for (const Pair& pair : result.pairs) {
    if (std::isfinite(pair.seconds[side]) && pair.seconds[side] > 0) times.push_back(pair.seconds[side]);
  }
  return times;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string range_text(const std::vector<double>& times) {
  const auto [least, most] = std::ranges::minmax(times);
  return seconds_text(least) + " to " + seconds_text(most) + ", median " + seconds_text(median_of(times));
}

void write_side(html::Html& html, const Axis& axis, const std::vector<double>& times, Side side) {
  const bool is_current = side == Side::current;
  const double middle = kTop + kRowHeight * (is_current ? 1.5 : 0.5);
  const auto group = html.open("g", {{"class", name_of(side)}});
  write_text(html, name_of(side), 0, middle + 4, "start", "name");
  if (times.empty()) return;
  std::string dots;
  for (std::size_t i = 0; i < times.size(); ++i) {
    // Moves neighbours apart; the order of the moves means nothing.
    const double x = axis.place(times[i]), y = middle + 4.5 * (static_cast<double>(i * 3 % 5) - 2);
    dots += is_current ? diamond(x, y) : circle(x, y);
  }
  html.element("path", "", {{"class", "dots"}, {"d", dots}});
  const double x = axis.place(median_of(times));
  write_line(html, "median", x, middle - kRowHeight / 2 + 3, x, middle + kRowHeight / 2 - 3);
}

Axis ratio_axis(const CaseResult& result) {
  std::vector<double> shown;
  for (const Pair& pair : result.pairs) {
    if (const double ratio = std::exp(pair.log_ratio); std::isfinite(ratio)) shown.push_back(ratio);
  }
  Axis axis = axis_around(shown, kPairsHeight - kBottom, kTop);
  if (shown.empty()) axis.low = axis.high = 1;
  const double tolerance = std::isfinite(result.tolerance) ? std::clamp(result.tolerance, 1e-6, 1.0) : 0.01;
  axis.low = std::min(axis.low, 1 - 1.5 * tolerance);
  axis.high = std::max(axis.high, 1 + 1.5 * tolerance);
  if (is_bounded(result.change)) {
    axis.low = std::min(axis.low, std::max(result.change.low, 1 - 10 * tolerance));
    axis.high = std::max(axis.high, std::min(result.change.high, 1 + 10 * tolerance));
  }
  axis.low = std::max(axis.low, 0.0);
  return axis;
}

// Draws the interval after each observation as an area, which starts where it has an end.
void write_course(html::Html& html, const CaseResult& result, const Axis& pairs, const Axis& ratios) {
  std::string lows, highs, estimates;
  for (std::size_t i = 0; i < result.course.size(); ++i) {
    const Change& change = result.course[i];
    if (!is_bounded(change)) continue;
    const double x =
        pairs.place(static_cast<double>((i + 1) * result.pairs.size()) / static_cast<double>(result.course.size()));
    lows += format("%s%.1f %.1f", lows.empty() ? "M" : "L", x, ratios.place(change.low));
    highs = format("L%.1f %.1f", x, ratios.place(change.high)) + highs;
    estimates += format("%s%.1f %.1f", estimates.empty() ? "M" : "L", x, ratios.place(change.ratio));
  }
  if (lows.empty()) return;
  html.element("path", "", {{"class", "course"}, {"d", lows + highs + "z"}});
  html.element("path", "", {{"class", "estimate"}, {"d", estimates}});
}

void write_pair_points(html::Html& html, const CaseResult& result, const Axis& pairs, const Axis& ratios) {
  PerSide<std::string> points;  // by the side that ran first
  for (std::size_t i = 0; i < result.pairs.size(); ++i) {
    const double ratio = std::exp(result.pairs[i].log_ratio);
    if (!std::isfinite(ratio)) continue;
    const double x = pairs.place(static_cast<double>(i + 1)), y = ratios.place(ratio);
    if (result.pairs[i].current_first) {
      points[Side::current] += diamond(x, y);
    } else {
      points[Side::baseline] += circle(x, y);
    }
  }
  for (const Side first : kSides) {
    if (points[first].empty()) continue;
    const auto group = html.open("g", {{"class", name_of(first)}});
    html.element("path", "", {{"class", "dots"}, {"d", points[first]}});
  }
}

}  // namespace

void write_change_bar(html::Html& html, const CaseResult& result) {
  if (result.pairs.empty() || !is_bounded(result.change) || !(result.tolerance > 0)) return;
  constexpr double kBarWidth = 160, kBarHeight = 18;
  const double reach = 4 * std::min(result.tolerance, 1.0);
  const Axis axis{1 - reach, 1 + reach, 4, kBarWidth - 4};
  const auto svg = html.open(
      "svg", {{"class", "bar"}, {"viewBox", format("0 0 %.0f %.0f", kBarWidth, kBarHeight)}, {"role", "img"}});
  html.element("title", change_text(result) + "; the tolerance is " + percent_text(result.tolerance));
  const double left = axis.place(1 - result.tolerance), right = axis.place(1 + result.tolerance);
  html.element("rect", "",
               {{"class", "within"},
                {"x", coordinate(left)},
                {"y", "1"},
                {"width", coordinate(right - left)},
                {"height", coordinate(kBarHeight - 2)}});
  write_line(html, "zero", axis.place(1), 1, axis.place(1), kBarHeight - 1);
  write_line(html, "interval", axis.place(result.change.low), kBarHeight / 2, axis.place(result.change.high),
             kBarHeight / 2);
  html.element("path", "", {{"class", "point"}, {"d", circle(axis.place(result.change.ratio), kBarHeight / 2)}});
}

void write_times_chart(html::Html& html, const CaseResult& result, const std::string& id) {
  const PerSide<std::vector<double>> sides = {times_of(result, Side::baseline), times_of(result, Side::current)};
  std::vector<double> all = sides[Side::baseline];
  all.insert(all.end(), sides[Side::current].begin(), sides[Side::current].end());
  if (all.empty()) return;
  const Axis axis = axis_around(all, kLeft, kWidth - kRight);
  const double bottom = kTop + 2 * kRowHeight;
  std::string description;
  for (const Side side : kSides) {
    description += std::string(side == Side::baseline ? "Baseline: " : " Current: ") +
                   (sides[side].empty() ? "not measured" : range_text(sides[side])) + ".";
  }
  const auto beyond = std::ranges::count_if(all, [&](double time) { return time < axis.low || time > axis.high; });
  write_figure(html, bottom + kBottom,
               {id, "Median times of the processes of both sides", description,
                "Each mark is the median time of one process, a vertical line the median of a side. " + description +
                    (beyond > 0 ? " Marks at the edge: " + std::to_string(beyond) + " further away." : "")},
               [&] {
                 const Ticks ticks = horizontal_ticks(axis, time_labels);
                 for (std::size_t i = 0; i < ticks.values.size(); ++i) {
                   const double x = axis.place(ticks.values[i]);
                   write_line(html, "grid", x, kTop, x, bottom);
                   write_text(html, ticks.labels[i], x, bottom + 18, "middle");
                 }
                 for (const Side side : kSides) write_side(html, axis, sides[side], side);
               });
}

void write_pairs_chart(html::Html& html, const CaseResult& result, const std::string& id) {
  if (result.pairs.empty()) return;
  const auto count = static_cast<double>(result.pairs.size());
  const Axis ratios = ratio_axis(result);
  const ChangeWords change = words_of(result.change);
  const std::string description =
      std::to_string(result.pairs.size()) + (count == 1 ? " pair" : " pairs") +
      ". The change after all of them: " + change.ratio +
      (is_bounded(result.change) ? ", between " + change.low + " and " + change.high : ", without bounds") + ".";
  const auto draw = [&] {
    const double left = write_vertical_axis(html, ratios, change_labels, kWidth - kRight, "zero");
    const Axis pairs{0.5, count + 0.5, left, kWidth - kRight};
    write_course(html, result, pairs, ratios);
    for (const double edge : {1 - result.tolerance, 1 + result.tolerance}) {
      if (!(edge > ratios.low && edge < ratios.high)) continue;
      write_line(html, "tolerance", left, ratios.place(edge), kWidth - kRight, ratios.place(edge));
    }
    write_pair_points(html, result, pairs, ratios);
    write_text(html, "pair 1", left, kPairsHeight - 8, "start");
    if (count > 1)
      write_text(html, "pair " + std::to_string(result.pairs.size()), kWidth - kRight, kPairsHeight - 8, "end");
  };
  write_figure(
      html, kPairsHeight,
      {id, "Change of the time in each pair", description,
       "Circles: the baseline ran first; diamonds: the current side did. The shaded area is the interval of the change "
       "as it narrowed, dashed lines are the tolerance. " +
           description},
      draw);
}

}  // namespace ferry::gate
