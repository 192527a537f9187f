#include "host/tune/report/tune_sections.h"

#include "base/quantity_text.h"
#include "host/text/chart.h"
#include "host/text/report_page.h"
#include "host/text/table.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_text.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace ferry::tune {

namespace {

using namespace chart;

constexpr double kCourseHeight = 300, kBarHeight = 34;

std::string times_text(double times) { return gain_text(1 / times) + " times"; }

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

}  // namespace

std::string outcome_words(Outcome outcome) {
  std::string text = outcome_name(outcome);
  std::ranges::replace(text, '_', ' ');
  return text;
}

void write_comparison(html::Html& html, const bench::KernelComparison& compared, const ComparisonWords& words) {
  std::vector<double> medians[2], all;
  for (const bench::ComparedProcess& process : compared.processes)
    for (int side = 0; side < 2; ++side) medians[side].push_back(process.timings[side].median());
  for (const std::vector<double>& of_side : medians) all.insert(all.end(), of_side.begin(), of_side.end());
  if (all.empty()) return;
  const std::string text = words.tuned + " is " + times_text(compared.times.ratio) + " as fast as " + words.by_default +
                           ", " + decimal(compared.times.low) + " to " + decimal(compared.times.high) +
                           " with a probability of 99%.";
  html.element("h2", words.title);
  html.element("p", text, {{"class", "headline"}});
  const double height = kTop + 2 * kBarHeight + kBottom;
  write_figure(
      html, height,
      {"comparison", "Times of both", text, "Each mark is the median of a process; both ran in turns in each of them."},
      [&] {
        const Axis axis = axis_around(all, kLeft, kWidth - kRight);
        const Ticks ticks = horizontal_ticks(axis, time_labels);
        for (std::size_t t = 0; t < ticks.values.size(); ++t) {
          const double x = axis.place(ticks.values[t]);
          write_line(html, "grid", x, kTop, x, height - kBottom);
          write_text(html, ticks.labels[t], x, height - 8, "middle");
        }
        for (int side = 0; side < 2; ++side) {
          const double y = kTop + (side + 0.5) * kBarHeight;
          const auto group = html.open("g", {{"class", side == 0 ? "baseline" : "current"}});
          write_text(html, side == 0 ? "default" : "best", kLeft - 8, y + 4, "end", "name");
          std::string path;
          for (const double seconds : medians[side])
            path += side == 0 ? circle(axis.place(seconds), y) : diamond(axis.place(seconds), y);
          html.element("path", "", {{"class", "dots"}, {"d", path}});
        }
      });
}

void write_course(html::Html& html, const Course& course) {
  std::vector<double> shares;
  for (const CoursePoint& point : course.points) shares.push_back(point.share);
  shares.push_back(1);
  html.element("h2", "The best over time");
  write_figure(html, kCourseHeight,
               {"course", "Shares of the default's time", course.summary, course.summary + " " + course.details}, [&] {
                 const Axis values = axis_around(shares, kCourseHeight - kBottom, kTop);
                 const double left = write_vertical_axis(html, values, share_labels, kWidth - kRight, "zero");
                 const Axis seconds{0, std::max(course.points.back().elapsed_seconds, 1e-3), left, kWidth - kRight};
                 const Ticks ticks = horizontal_ticks(seconds, time_labels);
                 for (std::size_t t = 0; t < ticks.values.size(); ++t)
                   write_text(html, ticks.labels[t], seconds.place(ticks.values[t]), kCourseHeight - 8, "middle");
                 const auto group = html.open("g", {{"class", "baseline"}});
                 std::string dots;
                 double until = 1, from = left;
                 for (const auto& [elapsed, share] : course.points) {
                   const double x = seconds.place(elapsed), y = values.place(share);
                   dots += circle(x, y);
                   if (share >= until) continue;
                   write_line(html, "level", from, values.place(until), x, values.place(until));
                   write_line(html, "level", x, values.place(until), x, y);
                   until = share;
                   from = x;
                 }
                 write_line(html, "level", from, values.place(until), kWidth - kRight, values.place(until));
                 html.element("path", "", {{"class", "dots"}, {"d", dots}});
               });
}

std::string point_line(const std::string& point) {
  std::string line = point;
  while (line.ends_with('\n')) line.pop_back();
  for (std::size_t at = 0; (at = line.find('\n', at)) != std::string::npos;) line.replace(at, 1, "; ");
  return line;
}

void write_failures(html::Html& html, const std::vector<ShownTrial>& trials) {
  struct Kind {
    std::size_t count = 0;
    std::string example;
  };
  std::map<Outcome, Kind> kinds;
  for (const ShownTrial& trial : trials) {
    if (trial.record.outcome == Outcome::measured || trial.record.outcome == Outcome::too_slow) continue;
    Kind& kind = kinds[trial.record.outcome];
    if (kind.count++ == 0) kind.example = trial.record.reason + " (" + point_line(trial.record.point) + ")";
  }
  if (kinds.empty()) return;
  html.element("h2", "Failures");
  const html::Table table(html, "Schedules that could not be measured", {"Kind", "#Number", "The first"});
  const auto body = html.open("tbody");
  for (const auto& [outcome, kind] : kinds) {
    const auto row = html.open("tr");
    html.element("th", outcome_words(outcome), {{"scope", "row"}});
    html.element("td", count_text(kind.count), {{"class", "number"}});
    html.element("td", kind.example);
  }
}

}  // namespace ferry::tune
