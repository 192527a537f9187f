#include "host/tune/report/tune_page.h"

#include "base/quantity_text.h"
#include "host/text/report_page.h"
#include "host/text/table.h"
#include "host/tune/report/predictions.h"
#include "host/tune/report/roofline_chart.h"
#include "host/tune/report/tune_sections.h"

#include <algorithm>

namespace ferry::tune {

namespace {

constexpr std::size_t kShownPoints = 10;

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

Course course_of(const std::vector<const ShownTrial*>& trials) {
  Course course;
  for (const ShownTrial* trial : trials)
    course.points.push_back({trial->elapsed_seconds, *share_of_default(trial->record)});
  const double best = std::ranges::min(course.points, {}, &CoursePoint::share).share;
  course.summary = count_text(trials.size()) + " measured schedules; the fastest took " + percent_text(best) +
                   " of the default's time.";
  course.details =
      "Each mark is a schedule; the line is the fastest until then. Times are shares of the default's, "
      "which is measured again and again.";
  return course;
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
    html.element("td", point_line(record.point), {{"class", "text"}});
  }
}

}  // namespace

std::string tune_page(const TunePage& page) {
  const std::string& function = page.tuned.best.function;
  return html::write_page({"Tuning of " + function, "ferry tune", function, "Written by ferry " + page.version + "."},
                          [&](html::Html& html) {
                            write_facts(html, page);
                            if (page.tuned.comparison)
                              write_comparison(html, *page.tuned.comparison,
                                               {"The best against the default", "The best schedule", "the default"});
                            else
                              html.element("p", "Nothing was compared with the default in processes of their own.");
                            const std::vector<const ShownTrial*> trials = measured(page);
                            if (trials.empty()) {
                              html.element("p", "No schedule was measured.");
                            } else {
                              write_course(html, course_of(trials));
                              write_best(html, trials);
                            }
                            write_roofline(html, page.tuned);
                            write_predictions(html, page.predictions);
                            write_failures(html, page.trials);
                          });
}

}  // namespace ferry::tune
