#include "host/gate/report/axis.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/gate/report/drawing.h"

using ferry::gate::Axis;
using ferry::gate::axis_around;

TEST_CASE("an axis has a width and a few round ticks whatever it shows") {
  const std::vector<std::vector<double>> cases = {
      {},           {0},          {1e-3},  {1e-300, 1e-300}, {1, 1 + 1e-15},
      {1e-9, 3e-9}, {0.97, 1.03}, {-5, 5}, {1e9, 1e9 + 1},   {1e6, 2e6, 3e6}};
  for (const std::vector<double>& values : cases) {
    CAPTURE(values.size());
    const Axis axis = axis_around(values, 100, 500);
    CHECK(axis.high > axis.low);
    for (const double value : values) {
      CHECK(axis.place(value) >= 100);
      CHECK(axis.place(value) <= 500);
    }
    const std::vector<double> ticks = axis.ticks(6);
    CHECK(ticks.size() >= 2);
    CHECK(ticks.size() <= 13);
    CHECK(std::ranges::is_sorted(ticks));
    CHECK(ticks.front() >= axis.low);
    CHECK(ticks.back() <= axis.high);
  }
}

TEST_CASE("ticks are multiples of one, two or five times a power of ten") {
  for (double width = 1e-7; width < 1e7; width *= 1.37) {
    const std::vector<double> ticks = Axis{3, 3 + width, 0, 1}.ticks(6);
    REQUIRE(ticks.size() >= 3);
    const double step = ticks[1] - ticks[0];
    const double mantissa = step / std::pow(10, std::floor(std::log10(step) + 1e-4));
    CAPTURE(width);
    CAPTURE(mantissa);
    CHECK(std::min({std::abs(mantissa - 1), std::abs(mantissa - 2), std::abs(mantissa - 5)}) < 1e-4);
  }
}

TEST_CASE("a value far away does not squeeze the others, and is drawn at the end") {
  std::vector<double> values;
  for (int i = 0; i < 30; ++i) values.push_back(1 + 0.001 * i);
  values.push_back(1000);
  const Axis axis = axis_around(values, 0, 100);
  CHECK(axis.high < 1.2);
  CHECK(axis.place(1000) == 100);
  CHECK(axis.place(1.029) - axis.place(1) > 25);
}

TEST_CASE("labels of counts are short and differ") {
  using ferry::gate::drawing::count_labels;
  using Labels = std::vector<std::string>;
  CHECK(count_labels({}).empty());
  CHECK(count_labels({0, 50, 100}) == Labels{"0", "50", "100"});
  CHECK(count_labels({99'000, 99'500}) == Labels{"99000", "99500"});
  CHECK(count_labels({100'350, 100'400}) == Labels{"100.35k", "100.40k"});
  CHECK(count_labels({1'227'000, 1'227'200}) == Labels{"1.2270M", "1.2272M"});
  CHECK(count_labels({2e9, 2.5e9}) == Labels{"2.0G", "2.5G"});
  CHECK(count_labels({3e13, 4e13}) == Labels{"30T", "40T"});
}

TEST_CASE("an axis leaves room for its labels") {
  using namespace ferry::gate::drawing;
  CHECK(left_of({}) == kLeft);
  CHECK(left_of({"1 ms"}) == kLeft);
  CHECK(left_of({"1", "1.2272003M"}) >= 110);
}
