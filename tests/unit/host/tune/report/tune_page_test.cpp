#include "host/tune/report/tune_page.h"

#include "host/tune/report/predictions.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ferry;
using tune::MeasuredTime;
using tune::Outcome;
using tune::ShownTrial;
using tune::Tuned;

namespace {

ShownTrial trial(const std::string& point, double seconds, double elapsed) {
  ShownTrial shown;
  shown.elapsed_seconds = elapsed;
  shown.record.function = "mm";
  shown.record.sizes = {{"M", 37}};
  shown.record.device = "pi";
  shown.record.key.device.cpu = "cortex-a72";
  shown.record.point = point;
  shown.record.time = MeasuredTime{seconds, seconds, seconds};
  shown.record.default_time = MeasuredTime{2e-3, 2e-3, 2e-3};
  return shown;
}

ShownTrial failed(const std::string& reason) {
  ShownTrial shown = trial("C: tile=1x1\n", 1, 3);
  shown.record.outcome = Outcome::crashed;
  shown.record.time.reset();
  shown.record.reason = reason;
  return shown;
}

std::string page_of(const Tuned& tuned, const std::vector<ShownTrial>& trials) {
  return tune::tune_page({tuned, trials, {}, "1.2"});
}

Tuned tuned() {
  Tuned found;
  found.best.function = "mm";
  found.progress.points = 100;
  found.progress.trials = {{Outcome::measured, 12}, {Outcome::crashed, 1}};
  found.progress.seconds = 12;
  return found;
}

bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the page of a search shows the best ten points in the order of their times") {
  std::vector<ShownTrial> trials;
  for (int i = 0; i < 12; ++i)
    trials.push_back(trial("C: tile=" + std::to_string(i) + "x2\nC: order=rows\n", 3e-3 - i * 1e-4, i));
  const std::string page = page_of(tuned(), trials);
  CHECK(has(page, "<title>Tuning of mm</title>"));
  CHECK(page.find("C: tile=11x2; C: order=rows") < page.find("C: tile=10x2"));
  CHECK(has(page, "C: tile=2x2"));
  CHECK_FALSE(has(page, "C: tile=1x2"));
  CHECK(has(page, "12 measured schedules; the fastest took 95% of the default"));
  CHECK(has(page, "13 of 100 points"));
  CHECK(has(page, "cortex-a72"));
}

TEST_CASE("nothing that a device or a kernel says becomes markup") {
  Tuned found = tuned();
  found.best.function = "<script>";
  const std::string page = page_of(found, {trial("C: x=<b>\n", 1e-3, 1), failed("<i>segmentation fault</i>")});
  for (const char* tag : {"<script", "<b>", "<i>"}) CHECK_FALSE(has(page, tag));
  CHECK(has(page, "&lt;i&gt;segmentation fault"));
}

TEST_CASE("a search without measurements has a page too") {
  const std::string page = page_of(tuned(), {failed("it crashed")});
  CHECK(has(page, "No schedule was measured."));
  CHECK(has(page, "it crashed"));
  CHECK(has(page_of(tuned(), {}), "No schedule was measured."));
}

TEST_CASE("the comparison is shown with the times of each process") {
  Tuned found = tuned();
  bench::KernelComparison compared;
  compared.times.ratio = 1.25;
  compared.times.low = 1.2;
  compared.times.high = 1.3;
  for (int p = 0; p < 3; ++p) {
    bench::ComparedProcess& process = compared.processes.emplace_back();
    process.timings[0].seconds = {2e-3 + p * 1e-5};
    process.timings[1].seconds = {1.6e-3 + p * 1e-5};
  }
  found.comparison = compared;
  const std::string page = page_of(found, {trial("C: tile=4x2\n", 1.6e-3, 1)});
  CHECK(has(page, "1.25 times as fast as the default, 1.20 to 1.30"));
}
