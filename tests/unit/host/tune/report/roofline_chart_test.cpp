#include "host/tune/report/roofline_chart.h"

#include "tests/unit/host/tune/report/drawn_marks.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ferry;
using bench::Roofline;
using test::DrawnLine;
using test::DrawnMark;
using tune::MeasuredTime;
using tune::Tuned;

namespace {

Tuned tuned(double default_seconds, double best_seconds) {
  Tuned found;
  found.best.time = MeasuredTime{best_seconds, best_seconds, best_seconds};
  found.best.default_time = MeasuredTime{default_seconds, default_seconds, default_seconds};
  return found;
}

std::string drawn(const Tuned& found) {
  html::Html html;
  tune::write_roofline(html, found);
  return html.take();
}

bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

struct Drawn {
  std::string page;
  DrawnMark by_default, best;
  DrawnLine slope, flat, intensity;
};

Drawn chart_of(const Tuned& found) {
  Drawn chart;
  chart.page = drawn(found);
  const std::vector<DrawnMark> marks = test::marks_of(chart.page, "dots");
  const std::vector<DrawnLine> roof = test::lines_of(chart.page, "level"),
                               dashed = test::lines_of(chart.page, "tolerance");
  REQUIRE(marks.size() == 2);
  REQUIRE(roof.size() == 2);
  REQUIRE(dashed.size() == 1);
  chart.by_default = marks[0];
  chart.best = marks[1];
  chart.slope = roof[0];
  chart.flat = roof[1];
  chart.intensity = dashed[0];
  return chart;
}

}  // namespace

TEST_CASE("a kernel that arithmetic limits is below the flat part of the roof, as far as its share says") {
  // The default reaches 25 GFLOP/s and the best 50 of 100, and the ridge is at 10 operations a byte.
  Tuned found = tuned(4e-3, 2e-3);
  found.progress.roofline = Roofline{1e8, 1e6, {100e9, 10e9}};
  const Drawn chart = chart_of(found);
  CHECK(chart.flat.y1 == chart.flat.y2);
  CHECK(chart.intensity.y2 == chart.flat.y1);
  CHECK(test::is_near(chart.by_default.x, chart.intensity.x1));
  CHECK(test::is_near(chart.best.x, chart.intensity.x1));
  CHECK(chart.best.x > chart.flat.x1);
  // Equal ratios are equal distances.
  CHECK(test::is_near(chart.best.y - chart.flat.y1, chart.by_default.y - chart.best.y));
  CHECK(chart.best.y - chart.flat.y1 > 10);
  CHECK(has(chart.page,
            "The best schedule reaches 50.0 GFLOP/s, 50% of what is possible under the roof, and the default 25%; "
            "arithmetic is the limit."));
  for (const char* part : {">best 50%<", ">default 25%<", ">100 GFLOP/s<", ">10.0 GB/s<"})
    CHECK_MESSAGE(has(chart.page, part), part);
}

TEST_CASE("a kernel that memory limits is below the slope of the roof") {
  // 0.5 operations a byte: a copy's rate allows 5 GFLOP/s.
  Tuned found = tuned(1e-3, 5e-4);
  found.progress.roofline = Roofline{1e6, 2e6, {100e9, 10e9}};
  const Drawn chart = chart_of(found);
  CHECK(chart.best.x < chart.flat.x1);
  CHECK(chart.slope.x2 == chart.flat.x1);
  CHECK(chart.slope.y2 == chart.flat.y1);
  // The dashed line ends at the roof.
  const double share = (chart.intensity.x2 - chart.slope.x1) / (chart.slope.x2 - chart.slope.x1);
  CHECK(test::is_near(chart.slope.y1 + share * (chart.slope.y2 - chart.slope.y1), chart.intensity.y2));
  CHECK(chart.best.y > chart.intensity.y2);
  CHECK(has(chart.page, "40% of what is possible under the roof, and the default 20%; memory is the limit."));
}

TEST_CASE("more than all of the peak is drawn, and said not to be possible") {
  Tuned found = tuned(1e-3, 5e-4);
  found.progress.roofline = Roofline{1e8, 1e6, {100e9, 10e9}};
  const Drawn chart = chart_of(found);
  CHECK(chart.best.y < chart.flat.y1);
  CHECK(has(chart.page, "a peak was measured too low"));
}

TEST_CASE("without peaks the page says why there is no roofline, and without times nothing") {
  CHECK(has(drawn(tuned(1e-3, 1e-3)), "The device&#39;s peaks are not known"));
  CHECK_FALSE(has(drawn(tuned(1e-3, 1e-3)), "<svg"));
  Tuned none;
  none.progress.roofline = Roofline{1e8, 1e6, {100e9, 10e9}};
  CHECK_FALSE(has(drawn(none), "<h2>"));
}
