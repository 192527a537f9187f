#include "host/tune/report/tune_page.h"

#include "base/quantity_text.h"
#include "host/text/chart.h"
#include "host/text/report_page.h"
#include "host/text/table.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_text.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>

namespace ferry::tune {

namespace {

using namespace chart;

constexpr double kCourseHeight = 300, kBarHeight = 34;
constexpr std::size_t kShownPoints = 10;

std::string times_text(double times) { return gain_text(1 / times) + " times"; }

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string outcome_words(Outcome outcome) {
  std::string text = outcome_name(outcome);
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string sizes_of(const TuneRecord& record) {
  std::vector<std::string> texts;
  for (const auto& [name, size] : record.sizes) texts.push_back(name + "=" + std::to_string(size));
  return join(", ", texts);
}

std::vector<const ShownTrial*> measured(const TunePage& page) {
  std::vector<const ShownTrial*> trials;
  for (const ShownTrial& trial : page.trials)
    if (share_of_default(trial.record)) trials.push_back(&trial);
  return trials;
}

void write_facts(html::Html& html, const TunePage& page) {
  const Progress& progress = page.tuned.progress;
  const auto list = html.open("dl", {{"class", "facts"}});
  if (!page.trials.empty()) {
    const TuneRecord& record = page.trials.front().record;
    html::write_fact(html, "Sizes", sizes_of(record));
    html::write_fact(html, "Device", record.device);
    html::write_fact(html, "Processor", record.key.device.cpu.empty() ? record.key.device.arch : record.key.device.cpu);
  }
  html::write_fact(html, "Time", seconds_text(progress.seconds));
  html::write_fact(html, "Tried", count_text(progress.count()) + " of " + count_text(progress.points) + " points");
  if (page.tuned.earlier > 0) html::write_fact(html, "From earlier runs", count_text(page.tuned.earlier));
  for (const auto& [outcome, count] : progress.trials)
    if (outcome != Outcome::measured) html::write_fact(html, outcome_words(outcome), count_text(count));
}

// The medians of the processes of both sides, one below the other.
void write_comparison(html::Html& html, const bench::KernelComparison& compared) {
  std::vector<double> medians[2], all;
  for (const bench::ComparedProcess& process : compared.processes)
    for (int side = 0; side < 2; ++side) medians[side].push_back(process.timings[side].median());
  for (const std::vector<double>& of_side : medians) all.insert(all.end(), of_side.begin(), of_side.end());
  if (all.empty()) return;
  const std::string text = "The best schedule is " + times_text(compared.times.ratio) + " as fast as the default, " +
                           decimal(compared.times.low) + " to " + decimal(compared.times.high) +
                           " with a probability of 99%.";
  html.element("h2", "The best against the default");
  html.element("p", text, {{"class", "headline"}});
  const double height = kTop + 2 * kBarHeight + kBottom;
  write_figure(html, height,
               {"comparison", "Times of both schedules", text,
                "Each mark is the median of a process; both schedules ran in turns in each of them."},
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

void write_course(html::Html& html, const std::vector<const ShownTrial*>& trials) {
  std::vector<double> shares, times;
  for (const ShownTrial* trial : trials) {
    shares.push_back(*share_of_default(trial->record));
    times.push_back(trial->elapsed_seconds);
  }
  shares.push_back(1);
  const double best = *std::ranges::min_element(shares);
  const std::string text = count_text(trials.size()) + " measured schedules; the fastest took " + percent_text(best) +
                           " of the default's time.";
  html.element("h2", "The best over time");
  write_figure(
      html, kCourseHeight,
      {"course", "Times of the schedules that were tried", text,
       text + " Each mark is a schedule; the line is the fastest until then. Times are shares of the default's, which "
              "is measured again and again."},
      [&] {
        const Axis values = axis_around(shares, kCourseHeight - kBottom, kTop);
        const double left = write_vertical_axis(html, values, share_labels, kWidth - kRight, "zero");
        const Axis seconds{0, std::max(times.back(), 1e-3), left, kWidth - kRight};
        const Ticks ticks = horizontal_ticks(seconds, time_labels);
        for (std::size_t t = 0; t < ticks.values.size(); ++t)
          write_text(html, ticks.labels[t], seconds.place(ticks.values[t]), kCourseHeight - 8, "middle");
        const auto group = html.open("g", {{"class", "baseline"}});
        std::string dots;
        double until = 1, from = left;
        for (std::size_t i = 0; i < trials.size(); ++i) {
          const double x = seconds.place(times[i]), y = values.place(shares[i]);
          dots += circle(x, y);
          if (shares[i] >= until) continue;
          write_line(html, "level", from, values.place(until), x, values.place(until));
          write_line(html, "level", x, values.place(until), x, y);
          until = shares[i];
          from = x;
        }
        write_line(html, "level", from, values.place(until), kWidth - kRight, values.place(until));
        html.element("path", "", {{"class", "dots"}, {"d", dots}});
      });
}

// Returns the point in one line.
std::string point_line(const std::string& point) {
  std::string line = point;
  while (line.ends_with('\n')) line.pop_back();
  for (std::size_t at = 0; (at = line.find('\n', at)) != std::string::npos;) line.replace(at, 1, "; ");
  return line;
}

void write_best(html::Html& html, std::vector<const ShownTrial*> trials) {
  std::ranges::stable_sort(trials, {}, [](const ShownTrial* trial) { return *share_of_default(trial->record); });
  trials.resize(std::min(trials.size(), kShownPoints));
  html.element("h2", "The best points");
  const html::Table table(html, "Points of the space, the fastest first, each as it was measured once",
                          {"#Place", "#Time", "#Of the default", "Knobs"});
  const auto body = html.open("tbody");
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const TuneRecord& record = trials[i]->record;
    const auto row = html.open("tr");
    html.element("th", std::to_string(i + 1), {{"scope", "row"}, {"class", "number"}});
    html.element("td", seconds_text(record.time->seconds), {{"class", "number"}});
    html.element("td", percent_text(*share_of_default(record)), {{"class", "number"}});
    html.element("td", point_line(record.point));
  }
}

void write_failures(html::Html& html, const TunePage& page) {
  struct Kind {
    std::size_t count = 0;
    std::string example;
  };
  std::map<Outcome, Kind> kinds;
  for (const ShownTrial& trial : page.trials) {
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

}  // namespace

std::string tune_page(const TunePage& page) {
  const std::string& function = page.tuned.best.function;
  return html::write_page({"Tuning of " + function, "ferry tune", function, "Written by ferry " + page.version + "."},
                          [&](html::Html& html) {
                            write_facts(html, page);
                            if (page.tuned.comparison)
                              write_comparison(html, *page.tuned.comparison);
                            else
                              html.element("p", "Nothing was compared with the default in processes of their own.");
                            const std::vector<const ShownTrial*> trials = measured(page);
                            if (trials.empty()) {
                              html.element("p", "No schedule was measured.");
                            } else {
                              write_course(html, trials);
                              write_best(html, trials);
                            }
                            write_failures(html, page);
                          });
}

}  // namespace ferry::tune
