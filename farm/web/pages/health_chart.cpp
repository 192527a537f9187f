#include "farm/web/pages/health_chart.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/format.h"
#include "base/quantity_text.h"
#include "farm/web/pages/reading.h"

namespace ferry::farm::http {
namespace {

// In units of the view box.
constexpr double kWidth = 720, kHeight = 220, kLeft = 64, kRight = 96, kTop = 14, kBottom = 30;
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
  double low = 0.95, high = 1.05;

  double x(std::uint64_t at_ms) const {
    const double span = static_cast<double>(std::max<std::uint64_t>(to_ms - from_ms, 1));
    return kLeft + (kWidth - kLeft - kRight) * static_cast<double>(at_ms - from_ms) / span;
  }
  double y(double ratio) const {
    const double share = (std::clamp(ratio, low, high) - low) / (high - low);
    return kHeight - kBottom - (kHeight - kBottom - kTop) * share;
  }
};

Axes axes_of(const ChartSeries& series) {
  Axes axes;
  for (const auto& [job, points] : series) {
    for (const ChartPoint& point : points) {
      axes.from_ms = std::min(axes.from_ms, point.at_ms);
      axes.to_ms = std::max(axes.to_ms, point.at_ms);
      axes.low = std::min(axes.low, point.ratio);
      // A single very slow check must not hide the others.
      axes.high = std::max(axes.high, std::min(point.ratio, 2.5));
    }
  }
  const double margin = (axes.high - axes.low) * 0.06;
  axes.low -= margin;
  axes.high += margin;
  return axes;
}

std::string coordinate(double value) { return format("%.1f", value); }

void write_grid(html::Html& html, const Axes& axes) {
  const double span = axes.high - axes.low;
  const double step = span <= 0.25 ? 0.05 : span <= 0.6 ? 0.1 : span <= 1.2 ? 0.25 : 0.5;
  for (double ratio = std::ceil(axes.low / step) * step; ratio <= axes.high; ratio += step) {
    const bool is_baseline = std::abs(ratio - 1) < step / 4;
    html.element("line", "",
                 {{"class", is_baseline ? "baseline" : "grid"},
                  {"x1", coordinate(kLeft)},
                  {"x2", coordinate(kWidth - kRight)},
                  {"y1", coordinate(axes.y(ratio))},
                  {"y2", coordinate(axes.y(ratio))}});
    html.element("text", format("%.0f%%", ratio * 100),
                 {{"x", coordinate(kLeft - 6)}, {"y", coordinate(axes.y(ratio) + 4)}, {"text-anchor", "end"}});
  }
  html.element("text", time_text(axes.from_ms).substr(0, 16),
               {{"x", coordinate(kLeft)}, {"y", coordinate(kHeight - 8)}});
  html.element("text", time_text(axes.to_ms).substr(0, 16),
               {{"x", coordinate(kWidth - kRight)}, {"y", coordinate(kHeight - 8)}, {"text-anchor", "end"}});
}

// Failed checks are crosses, so that colour is not all that tells them apart.
void write_point(html::Html& html, const Axes& axes, const ChartPoint& point) {
  const double x = axes.x(point.at_ms), y = axes.y(point.ratio);
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
  const Axes axes = axes_of(series);
  const auto figure = html.open("figure");
  {
    const auto svg = html.open("svg", {{"viewBox", format("0 0 %.0f %.0f", kWidth, kHeight)},
                                       {"role", "img"},
                                       {"aria-labelledby", "health-chart-title"}});
    html.element("title", "Health checks relative to their baselines; the table below has the same values",
                 {{"id", "health-chart-title"}});
    write_grid(html, axes);
    std::vector<double> labels;
    char number = '0';
    for (const auto& [job, points] : series) {
      const auto group = html.open("g", {{"class", std::string("series series-") + number++}});
      std::string path;
      for (const ChartPoint& point : points) {
        path += format("%s%.1f %.1f", path.empty() ? "M" : " L", axes.x(point.at_ms), axes.y(point.ratio));
      }
      html.element("path", "", {{"class", "line"}, {"d", path}});
      for (const ChartPoint& point : points) write_point(html, axes, point);
      const double y = place_label(labels, axes.y(points.back().ratio) + 4);
      html.element("text", job, {{"x", coordinate(kWidth - kRight + 8)}, {"y", coordinate(y)}});
    }
  }
  html.element("figcaption",
               "Median time of each check, relative to its baseline. Less is faster; × marks a failed check.");
}

}  // namespace ferry::farm::http
