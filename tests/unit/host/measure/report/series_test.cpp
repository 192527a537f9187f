#include "host/measure/report/series.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/host/measure/report/sample_results.h"

using namespace ferry;
using bench::Measurement;
using bench::Series;
using bench::Variable;
using bench::variables_of;
using test::result;
using Texts = std::vector<std::string>;

namespace {

Texts names_of(const Variable& variable) {
  Texts names;
  for (const Series& series : variable.series) names.push_back(series.name);
  return names;
}

Measurement with_knobs(Measurement one, std::map<std::string, std::string> knobs) {
  one.knobs = std::move(knobs);
  return one;
}

}  // namespace

TEST_CASE("each swept size has a line for every combination of the other one and the devices") {
  std::vector<Measurement> all;
  for (const char* device : {"pi", "pc"})
    for (const int m : {1, 2})
      for (const int n : {64, 8, 100}) all.push_back(result(device, {{"M", m}, {"N", n}, {"K", 7}}, m * n * 1e-6));
  const std::vector<Variable> variables = variables_of(all, {"M", "N"});
  REQUIRE(variables.size() == 2);
  CHECK(variables[0].name == "M");
  CHECK(variables[0].values == Texts{"1", "2"});
  CHECK(names_of(variables[0]) == Texts{"N=64, pi", "N=8, pi", "N=100, pi", "N=64, pc", "N=8, pc", "N=100, pc"});
  const Variable& n = variables[1];
  CHECK(n.is_number);
  CHECK(n.values == Texts{"8", "64", "100"});
  CHECK(n.places == std::vector<double>{8, 64, 100});
  CHECK(names_of(n) == Texts{"M=1, pi", "M=2, pi", "M=1, pc", "M=2, pc"});
  REQUIRE(n.series[1].points.size() == 3);
  CHECK(n.series[1].points[0].place == 8);
  CHECK(n.series[1].points[0].measurement == &all[4]);
  CHECK(n.series[1].points[2].measurement == &all[5]);
}

TEST_CASE("a knob's numbers are numbers, and its words are choices in their order") {
  std::vector<Measurement> all;
  for (const char* rows : {"16", "4", "8"})
    for (const char* order : {"row", "column"})
      all.push_back(with_knobs(result("pi", {{"N", 64}}, 1e-6), {{"rows", rows}, {"order", order}, {"tile", "4x4"}}));
  const std::vector<Variable> variables = variables_of(all, {"rows", "order", "tile"});
  // The tile does not vary.
  REQUIRE(variables.size() == 2);
  CHECK(variables[0].is_number);
  CHECK(variables[0].values == Texts{"4", "8", "16"});
  CHECK(names_of(variables[0]) == Texts{"order=row", "order=column"});
  CHECK_FALSE(variables[1].is_number);
  CHECK(variables[1].values == Texts{"row", "column"});
  CHECK(variables[1].places == std::vector<double>{0, 1});
  CHECK(names_of(variables[1]) == Texts{"rows=16", "rows=4", "rows=8"});
}

TEST_CASE("values that only begin as numbers, or are infinite, are choices") {
  for (const char* word : {"4x4", "inf", "nan", "", "0x10", "1e999"}) {
    CAPTURE(word);
    const std::vector<Measurement> all = {with_knobs(result("pi", {}, 1), {{"tile", "4"}}),
                                          with_knobs(result("pi", {}, 1), {{"tile", word}})};
    const std::vector<Variable> variables = variables_of(all, {"tile"});
    REQUIRE(variables.size() == 1);
    CHECK_FALSE(variables[0].is_number);
  }
}

TEST_CASE("devices are what varies if nothing else does") {
  const std::vector<Measurement> two = {result("2", {{"N", 8}}, 1), result("1", {{"N", 8}}, 2)};
  const std::vector<Variable> variables = variables_of(two, {"N"});
  REQUIRE(variables.size() == 1);
  CHECK(variables[0].is_device);
  CHECK_FALSE(variables[0].is_number);
  CHECK(variables[0].values == Texts{"2", "1"});
  CHECK(names_of(variables[0]) == Texts{""});
  CHECK(variables_of({two[0]}, {"N"}).empty());
  CHECK(variables_of({}, {"N"}).empty());
}

TEST_CASE("a line lacks the values for which a device has no result") {
  const std::vector<Measurement> all = {result("pi", {{"N", 8}}, 1), result("pi", {{"N", 16}}, 2),
                                        result("pc", {{"N", 16}}, 1)};
  const std::vector<Variable> variables = variables_of(all, {"N"});
  REQUIRE(variables.size() == 1);
  REQUIRE(variables[0].series.size() == 2);
  CHECK(variables[0].series[0].points.size() == 2);
  REQUIRE(variables[0].series[1].points.size() == 1);
  CHECK(variables[0].series[1].points[0].place == 16);
}
