#include "host/tune/report/predictions.h"

#include "host/text/html.h"
#include "tests/unit/host/tune/report/drawn_marks.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;
using test::DrawnLine;
using test::DrawnMark;
using tune::Predictions;

namespace {

std::string drawn(const Predictions& predictions) {
  html::Html html;
  tune::write_predictions(html, predictions);
  return html.take();
}

bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("estimates are drawn against times on logarithmic axes, with the default and the best marked") {
  Predictions predictions;
  predictions.points = {{1e3, 0.01}, {1e4, 0.1}, {1e5, 1}, {1e6, 0.1}};
  predictions.by_default = {1e5, 1};
  predictions.best = {1e3, 0.01};
  const std::string page = drawn(predictions);
  const std::vector<DrawnMark> points = test::marks_of(page, "course"), marked = test::marks_of(page, "dots");
  REQUIRE(points.size() == 4);
  CHECK(test::is_near(points[1].x - points[0].x, points[2].x - points[1].x));
  CHECK(test::is_near(points[0].y - points[1].y, points[1].y - points[2].y));
  CHECK(points[0].y > points[2].y);
  CHECK(points[3].y == points[1].y);
  REQUIRE(marked.size() == 2);
  CHECK(marked[0].x == points[2].x);
  CHECK(marked[0].y == points[2].y);
  CHECK(marked[1].x == points[0].x);
  CHECK(marked[1].y == points[0].y);
  for (const char* part : {">default<", ">best<", ">10000<", ">1M<", ">10%<", ">100%<"})
    CHECK_MESSAGE(has(page, part), part);
}

TEST_CASE("a line through the default shows times in proportion to the estimates, as far as the axes reach") {
  Predictions predictions;
  predictions.points = {{1e3, 0.01}, {1e5, 1}, {1e6, 2}};
  predictions.by_default = {1e5, 1};
  const std::string page = drawn(predictions);
  const std::vector<DrawnMark> points = test::marks_of(page, "course");
  const std::vector<DrawnLine> lines = test::lines_of(page, "tolerance");
  REQUIRE(lines.size() == 1);
  // The first two points have times in this proportion.
  const auto y_at = [&](double x) {
    return lines[0].y1 + (lines[0].y2 - lines[0].y1) * (x - lines[0].x1) / (lines[0].x2 - lines[0].x1);
  };
  CHECK(test::is_near(y_at(points[0].x), points[0].y));
  CHECK(test::is_near(y_at(points[1].x), points[1].y));
  CHECK(lines[0].x2 < points[2].x);
}

TEST_CASE("the caption has the rank correlation of all points that were measured") {
  Predictions predictions;
  predictions.points = {{1, 0.2}, {2, 0.1}, {3, 0.4}, {4, 0.3}, {5, 0.5}};
  CHECK(has(drawn(predictions), "times of 5 schedules is 0.80."));
  predictions.points.resize(2);
  CHECK(has(drawn(predictions), "2 schedules with an estimate and a time: too few for a correlation."));
}

TEST_CASE("without estimates the page says why, or nothing if nothing was measured") {
  Predictions predictions;
  CHECK_FALSE(has(drawn(predictions), "<h2>"));
  predictions.missing = "The model knows <nothing>.";
  CHECK(has(drawn(predictions), "The model knows &lt;nothing&gt;."));
  CHECK_FALSE(has(drawn(predictions), "<svg"));
}
