#include "farm/web/pages/health_chart.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/format.h"
#include "base/quantity_text.h"
#include "farm/web/pages/reading.h"
#include "host/text/chart.h"

namespace ferry::farm::http {
namespace {

using namespace chart;

// In units of the view box. Names of jobs stand to the right of the chart.
constexpr double kHeight = 240, kNames = 110;
constexpr std::size_t kSeriesLimit = 4;

struct ChartPoint {
  std::uint64_t at_ms = 0;
  double ratio = 0;  // the median over the baseline
  bool has_passed = false;
  std::string label;
};

using ChartSeries = std::map<std::string, std::vector<ChartPoint>>;  // by job

ChartSeries series_of(const std::vector<wire::HealthListing>& checks) {
  ChartSeries series;
  for (auto check = checks.rbegin(); check != checks.rend(); ++check) {
    if (check->picoseconds == 0 || check->baseline_picoseconds == 0) continue;
    if (!series.contains(check->job) && series.size() == kSeriesLimit) continue;
    const double ratio = static_cast<double>(check->picoseconds) / static_cast<double>(check->baseline_picoseconds);
    series[check->job].push_back({check->at_ms, ratio, check->verdict != "failed",
                                  format("%s, %s UTC: %.1f%% of the baseline, %s", check->job.c_str(),
                                         time_text(check->at_ms).c_str(), ratio * 100, check->verdict.c_str())});
  }
  return series;
}

struct Axes {
  std::uint64_t from_ms = ~std::uint64_t{0}, to_ms = 0;
  Axis times, ratios;

  double x(const ChartPoint& point) const { return times.place(static_cast<double>(point.at_ms - from_ms)); }
};

Axes axes_of(const ChartSeries& series) {
  Axes axes;
  Axis& ratios = axes.ratios = {0.95, 1.05, kHeight - kBottom, kTop};
  for (const auto& [job, points] : series) {
    for (const ChartPoint& point : points) {
      axes.from_ms = std::min(axes.from_ms, point.at_ms);
      axes.to_ms = std::max(axes.to_ms, point.at_ms);
      ratios.low = std::min(ratios.low, point.ratio);
      // A single very slow check must not hide the others.
      ratios.high = std::max(ratios.high, std::min(point.ratio, 2.5));
    }
  }
  const double margin = (ratios.high - ratios.low) * 0.06;
  ratios.low = std::max(ratios.low - margin, 0.0);
  ratios.high += margin;
  axes.times = {0, static_cast<double>(std::max<std::uint64_t>(axes.to_ms - axes.from_ms, 1)), kLeft, kWidth - kNames};
  return axes;
}

void write_axes(html::Html& html, Axes& axes) {
  axes.times.from = write_vertical_axis(html, axes.ratios, share_labels, axes.times.to, "baseline");
  write_text(html, time_text(axes.from_ms).substr(0, 16), axes.times.from, kHeight - 8, "start");
  write_text(html, time_text(axes.to_ms).substr(0, 16), axes.times.to, kHeight - 8, "end");
}

// Failed checks are crosses, so that colour is not all that tells them apart.
void write_point(html::Html& html, const Axes& axes, const ChartPoint& point) {
  const double x = axes.x(point), y = axes.ratios.place(point.ratio);
  if (point.has_passed) {
    const auto circle = html.open("circle", {{"cx", coordinate(x)}, {"cy", coordinate(y)}, {"r", "2.6"}});
    html.element("title", point.label);
    return;
  }
  const auto cross = html.open("path", {{"class", "failed"}, {"d", format("M%.1f %.1fl8 8m0 -8l-8 8", x - 4, y - 4)}});
  html.element("title", point.label);
}

// Moves labels of lines that end at nearly the same height apart.
double place_label(std::vector<double>& taken, double y) {
  constexpr double kLine = 14;
  bool moved = true;
  while (moved) {
    moved = false;
    for (const double other : taken) {
      if (std::abs(other - y) < kLine - 0.01) {
        y = other + kLine;
        moved = true;
      }
    }
  }
  taken.push_back(y);
  return y;
}

}  // namespace

void write_health_chart(html::Html& html, const std::vector<wire::HealthListing>& checks) {
  const ChartSeries series = series_of(checks);
  if (series.empty()) return;
  Axes axes = axes_of(series);
  write_figure(html, kHeight,
               {"health-chart", "Health checks relative to their baselines", "The table below has the same values.",
                "Median time of each check, relative to its baseline. Less is faster; × marks a failed check."},
               [&] {
                 write_axes(html, axes);
                 std::vector<double> labels;
                 char number = '0';
                 for (const auto& [job, points] : series) {
                   const auto group = html.open("g", {{"class", std::string("series series-") + number++}});
                   std::string path;
                   for (const ChartPoint& point : points)
                     path += format("%s%.1f %.1f", path.empty() ? "M" : " L", axes.x(point),
                                    axes.ratios.place(point.ratio));
                   html.element("path", "", {{"class", "line"}, {"d", path}});
                   for (const ChartPoint& point : points) write_point(html, axes, point);
                   const double y = place_label(labels, axes.ratios.place(points.back().ratio) + 4);
                   write_text(html, job, axes.times.to + 8, y, "start");
                 }
               });
}

}  // namespace ferry::farm::http
