#include "host/tune/report/network_page.h"

#include "base/quantity_text.h"
#include "host/text/report_page.h"
#include "host/text/table.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/report/tune_sections.h"

#include <algorithm>
#include <functional>

namespace ferry::tune {

namespace {

void write_facts(html::Html& html, const NetworkPage& page) {
  const Progress& progress = page.tuned.progress;
  const auto list = html.open("dl", {{"class", "facts"}});
  if (!page.trials.empty()) {
    const TuneRecord& record = page.trials.front().record;
    html::write_fact(html, "Device", record.device);
    html::write_fact(html, "Processor", record.key.device.cpu.empty() ? record.key.device.arch : record.key.device.cpu);
  }
  html::write_fact(html, "Time", seconds_text(progress.seconds));
  html::write_fact(html, "Tried", count_text(progress.count()) + " points");
  html::write_fact(html, "Kernels", count_text(page.tuned.kernels.size()));
  if (page.tuned.layouts && page.tuned.layouts->changed() > 0)
    html::write_fact(html, "Layouts",
                     count_text(page.tuned.layouts->changed()) +
                         " groups with others: " + gain_text(page.tuned.layouts->share_in_network) + " times as fast" +
                         (page.tuned.layouts->is_used ? "" : ", not used"));
  else if (page.tuned.layouts)
    html::write_fact(html, "Layouts",
                     "the default, by the times of " + count_text(page.tuned.layouts->groups) + " groups");
  for (const auto& [outcome, count] : progress.trials)
    if (outcome != Outcome::measured) html::write_fact(html, outcome_words(outcome), count_text(count));
}

// What the network would take if every kernel were as fast in it as by itself.
Course course_of(const std::vector<ShownTrial>& trials) {
  Course course;
  for (const ShownTrial& trial : trials) course.points.push_back({trial.elapsed_seconds, trial.expected_share});
  course.summary = "With the best schedules of each kernel the network would take " +
                   percent_text(course.points.back().share) + " of its time.";
  course.details =
      "Each mark is a trial; it is placed at the sum of the kernels' times by then, each as its best "
      "schedule took by itself, as a share of the time with default schedules.";
  return course;
}

std::string came_of(const NetworkKernelResult& kernel) {
  if (!kernel.point.empty())
    return (kernel.is_used ? "" : "not faster in the network: ") +
           (kernel.point_algorithm.empty() ? "" : "algorithm=" + kernel.point_algorithm + "; ") +
           point_line(kernel.point);
  switch (kernel.state) {
    case KernelState::waiting: return "had no turn";
    case KernelState::pruned: return "has little to gain";
    case KernelState::fixed: return "has no knobs";
    case KernelState::failed: return "cannot be tuned: " + kernel.reason;
    case KernelState::tuned: break;
  }
  return "the default is the best";
}

// Returns the default's algorithm, and what others took by themselves: "winograd2; direct 0.87 (0.82 by estimates)".
std::string algorithms_of(const NetworkKernelResult& kernel) {
  std::string text = kernel.algorithm;
  for (const AlgorithmResult& other : kernel.others)
    text += "; " + other.algorithm + " " +
            (other.trials > 0 ? gain_text(other.best_share) + " (" + gain_text(other.estimated_share) + " by estimates)"
                              : gain_text(other.estimated_share) + " by estimates");
  return text;
}

void write_kernels(html::Html& html, const TunedNetwork& tuned) {
  std::vector<const NetworkKernelResult*> kernels;
  for (const NetworkKernelResult& kernel : tuned.kernels) kernels.push_back(&kernel);
  std::ranges::stable_sort(kernels, std::greater<>(), &NetworkKernelResult::seconds);
  html.element("h2", "The kernels");
  const html::Table table(
      html, "The kernels of the network, those first that take the longest",
      {"Kernel", "#Calls", "#Default", "#At least", "#Trials", "#By itself", "#In the network", "Algorithm", "Result"});
  const auto body = html.open("tbody");
  for (const NetworkKernelResult* kernel : kernels) {
    const auto row = html.open("tr");
    html.element("th", kernel->kernel, {{"scope", "row"}});
    const auto number = [&](const std::string& text) { html.element("td", text, {{"class", "number"}}); };
    number(count_text(kernel->nodes.size()));
    number(seconds_text(kernel->seconds));
    number(kernel->estimate > 0 ? seconds_text(kernel->estimate) : "");
    number(count_text(kernel->trials));
    number(kernel->state == KernelState::tuned || !kernel->point.empty() ? gain_text(kernel->best_share) : "");
    number(kernel->point.empty() ? "" : gain_text(kernel->share_in_network));
    html.element("td", algorithms_of(*kernel));
    html.element("td", came_of(*kernel));
  }
}

}  // namespace

std::string network_page(const NetworkPage& page) {
  const std::string& function = page.tuned.function;
  return html::write_page({"Tuning of " + function, "ferry tune", function, "Written by ferry " + page.version + "."},
                          [&](html::Html& html) {
                            write_facts(html, page);
                            if (page.tuned.comparison)
                              write_comparison(html, *page.tuned.comparison,
                                               {"The tuned network against the default",
                                                "The network with the best "
                                                "schedules",
                                                "with default schedules"});
                            else
                              html.element("p", "The network was not compared with that of default schedules.");
                            if (!page.trials.empty()) write_course(html, course_of(page.trials));
                            write_kernels(html, page.tuned);
                            write_failures(html, page.trials);
                          });
}

}  // namespace ferry::tune
