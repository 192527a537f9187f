#include "crosscompile/ir/error.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/module_schedule.h"
#include "host/autoschedule/decide_at.h"
#include "tests/unit/host/autoschedule/rule_cases.h"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

using namespace ferry;
using autoschedule::DecidedSchedule;
using autoschedule::Decision;
using autoschedule::FunctionPoint;
using autoschedule::NamedValue;
using autoschedule::Point;

namespace {

const char* const kTwo =
    "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n"
    "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }";
const autoschedule::Sizes kSizes = {{"M", 130}, {"K", 70}, {"N", 90}};

std::vector<FunctionPoint> parsed(const std::string& text) { return autoschedule::parse_point({text, "p"}); }

Point random_point(const autoschedule::Space& space, std::mt19937& random) {
  std::map<std::string, autoschedule::KnobValue> values;
  for (const autoschedule::SpaceKnob& knob : space.knobs)
    values.emplace(knob.name, knob.candidates[random() % knob.candidates.size()]);
  return Point(std::move(values));
}

struct Product {
  std::vector<lang::Program> programs = lang::parse(kTwo, "test.tc");
  Target target = test::small_cpu(256);

  DecidedSchedule at(const std::string& point) const {
    return autoschedule::decide_module_at(std::span(programs.data(), 1), {point, "p"}, target, {"twice"}, kSizes)
        .front();
  }
  std::string refusal(const std::string& point) const {
    try {
      (void)at(point);
    } catch (const CompileError& error) {
      return error.what();
    }
    return "";
  }
};

}  // namespace

TEST_CASE("a point's text names values by stage and knob, and functions") {
  CHECK(parsed("")[0].values.empty());
  const std::vector<NamedValue> values = {
      {"C", "tile", "4x2"}, {"C", "order", "rows_outside"}, {"D.sums", "lanes", "8"}};
  for (const char* text : {"C: tile=4x2, order=rows_outside; D.sums: lanes=8",
                           " C :tile = 4x2\t,order=rows_outside # the product\n\n;D.sums:lanes=8;\r\n",
                           "C: tile=4x2\nC: order=rows_outside\nD.sums: lanes=8"}) {
    const std::vector<FunctionPoint> parts = parsed(text);
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].function.empty());
    CHECK(parts[0].values == values);
  }
  const std::vector<FunctionPoint> parts = parsed("def mm; C: tile=4x2; def twice\nB: lanes=8\ndef none");
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].values.empty());
  CHECK(parts[1].function == "mm");
  CHECK(parts[2].values == std::vector<NamedValue>{{"B", "lanes", "8"}});
  CHECK(parts[3].function == "none");
}

TEST_CASE("a text that is no point is refused with what was expected") {
  const auto refused = [](const std::string& text, const std::string& message) {
    CHECK_THROWS_WITH_AS(parsed(text), message.c_str(), CompileError);
  };
  refused("tile=4x2", "p: expected STAGE: KNOB=VALUE, got 'tile=4x2'");
  refused(": tile=4x2", "p: expected STAGE: KNOB=VALUE, got ': tile=4x2'");
  refused("C:", "p: expected KNOB=VALUE after 'C:', got nothing");
  refused("C: tile", "p: expected KNOB=VALUE after 'C:', got 'tile'");
  refused("C: tile=", "p: expected KNOB=VALUE after 'C:', got 'tile='");
  refused("C: tile=4x2,", "p: expected KNOB=VALUE after 'C:', got nothing");
  refused("C: tile=4x2; C: tile=6x2", "p: expected one value for tile of C, got '4x2' and '6x2'");
  refused("def", "p: expected the name of a function after 'def', got nothing");
  refused("def f; def f", "p: expected one part for each function, got another 'def' of 'f'");
  refused("C: t\x1b[2J", "p: expected KNOB=VALUE after 'C:', got 't\\x1b[2J'");
}

TEST_CASE_FIXTURE(Product, "named values are taken, and all others keep their defaults") {
  const DecidedSchedule by_default = at("");
  CHECK(by_default.at_sizes);
  CHECK(by_default.schedule.to_text() == autoschedule::default_schedule(programs[0], target, kSizes).to_text());
  const DecidedSchedule changed = at("C: pack_columns=no, tile=2x1");
  CHECK(changed.schedule.to_text() != by_default.schedule.to_text());
  REQUIRE(changed.points.size() == by_default.points.size());
  std::map<std::string, autoschedule::KnobValue> expected = by_default.points[0].values();
  expected["pack_columns"] = {0};
  expected["tile"] = {2, 1};
  CHECK(changed.points[0].values() == expected);
  CHECK(autoschedule::schedule_at(programs[0], target, kSizes, {"C: pack_columns=no, tile=2x1"}).to_text() ==
        changed.schedule.to_text());
  CHECK(autoschedule::point_at(programs[0], target, kSizes, {"C: tile=2x1; C: pack_columns=no"}) ==
        point_text(changed));
}

TEST_CASE_FIXTURE(Product,
                  "a stage, a knob or a value that the space does not have is refused with those that it has") {
  CHECK(refusal("D: tile=4x2") == "p: expected a stage with knobs (C), got 'D'");
  CHECK(refusal("C: tiles=4x2") ==
        "p: expected a knob of C (tile, order, depth_block, pack_columns, pack_rows, parallel), got 'tiles'; did you "
        "mean 'tile'?");
  CHECK(refusal("C: order=rows") == "p: expected one of rows_outside, columns_outside for order of C, got 'rows'");
  CHECK(refusal("C: pack_rows=1") == "p: expected one of no, yes for pack_rows of C, got '1'");
  CHECK(refusal("C: tile=3x9").starts_with("p: expected one of 1x1, 2x1, 3x1, "));
  CHECK(refusal("def nn; C: tile=1x1").starts_with("p: expected a function of the kernel (mm, twice), got 'nn'"));
}

TEST_CASE_FIXTURE(Product, "each function of a kernel has its own part of a point") {
  const auto schedules = [&](const std::string& point) {
    return autoschedule::schedules_at(programs, {point, "p"}, target, {}, kSizes);
  };
  const auto by_default = autoschedule::default_schedules(programs, target, kSizes);
  const auto one = schedules("def twice; B: vectors=4");
  CHECK(one[0].to_text() == by_default[0].to_text());
  CHECK(one[1].to_text() != by_default[1].to_text());
  CHECK_THROWS_WITH_AS(schedules("B: vectors=4"),
                       "p: expected 'def NAME' before the first stage, as the kernel has several functions (mm, twice)",
                       CompileError);
  CHECK_THROWS_WITH_AS(schedules("C: tile=1x1; def twice; B: vectors=4"),
                       "p: expected 'def NAME' before the first stage, as the point has parts for functions",
                       CompileError);
  CHECK(refusal("def twice; B: vectors=4").empty());
}

TEST_CASE("a program without choices has no knobs") {
  const lang::Program program = lang::parse("def one(float(1) A) -> (B) { B(i) = A(i) + 1 }", "test.tc").at(0);
  CHECK(autoschedule::point_at(program, test::small_cpu(128)).empty());
  CHECK_THROWS_WITH_AS(autoschedule::schedule_at(program, test::small_cpu(128), {}, {"B: lanes=4", "p"}),
                       "p: expected no values, because the default schedule of this function has no knobs, got 'B'",
                       CompileError);
}

TEST_CASE("the knobs of a stage have different names") {
  for (const test::RuleCase& rule_case : test::rule_cases()) {
    const lang::Program program = lang::parse(rule_case.source, "test.tc").at(0);
    std::set<std::string> names;
    for (const Decision& decision : autoschedule::decide_schedule(program, rule_case.target, rule_case.expected_sizes,
                                                                  autoschedule::choose_default)
                                        .decisions)
      for (const autoschedule::SpaceKnob& knob : decision.space.knobs) {
        const std::string name = decision.stage + ": " + knob.name;
        CHECK_MESSAGE(names.insert(name).second, rule_case.name, ", ", name);
      }
  }
}

TEST_CASE("a point's text gives the schedule that it was printed for, at the default and at random points") {
  std::mt19937 random(1);
  std::size_t points = 0, refused = 0;
  for (const test::RuleCase& rule_case : test::rule_cases()) {
    CAPTURE(rule_case.name);
    const lang::Program program = lang::parse(rule_case.source, "test.tc").at(0);
    const autoschedule::Sizes sizes = autoschedule::sizes_of_space(program, rule_case.target, rule_case.expected_sizes);
    for (int i = 0; i < 4; ++i) {
      const DecidedSchedule decided =
          autoschedule::decide_schedule(program, rule_case.target, sizes, [&](const Decision& decision) {
            return i == 0 ? decision.space.default_point() : random_point(decision.space, random);
          });
      const std::string text = point_text(decided);
      CAPTURE(text);
      ++points;
      if (!sizes.empty() && !decided.at_sizes) {  // legal only where the sizes are fixed
        CHECK(i > 0);
        ++refused;
        continue;
      }
      CHECK(autoschedule::schedule_at(program, rule_case.target, rule_case.expected_sizes, {text}).to_text() ==
            decided.schedule.to_text());
      CHECK(autoschedule::point_at(program, rule_case.target, rule_case.expected_sizes, {text}) == text);
    }
  }
  CHECK(refused < points / 10);
}

TEST_CASE("values in the order of the decisions give the schedule of the same values by name") {
  std::mt19937 random(2);
  for (const test::RuleCase& rule_case : test::rule_cases()) {
    CAPTURE(rule_case.name);
    const lang::Program program = lang::parse(rule_case.source, "test.tc").at(0);
    const autoschedule::Sizes sizes = autoschedule::sizes_of_space(program, rule_case.target, rule_case.expected_sizes);
    const DecidedSchedule decided =
        autoschedule::decide_schedule(program, rule_case.target, sizes,
                                      [&](const Decision& decision) { return random_point(decision.space, random); });
    if (!sizes.empty() && !decided.at_sizes) continue;  // legal only where the sizes are fixed
    PointText by_text, by_number;
    for (std::size_t d = 0; d < decided.decisions.size(); ++d) {
      for (const autoschedule::SpaceKnob& knob : decided.decisions[d].space.knobs) {
        const autoschedule::KnobValue& value = decided.points[d][knob.name];
        by_text.in_order.push_back(autoschedule::value_text(knob, value));
        const auto candidate = std::ranges::find(knob.candidates, value);
        by_number.in_order.push_back("#" + std::to_string(candidate - knob.candidates.begin()));
      }
    }
    for (const PointText& point : {by_text, by_number})
      CHECK(autoschedule::schedule_at(program, rule_case.target, rule_case.expected_sizes, point).to_text() ==
            decided.schedule.to_text());
  }
}

TEST_CASE("values in order that the space does not have are refused with what it has") {
  const lang::Program program =
      lang::parse("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "t").at(0);
  const Target target = test::small_cpu(256, 32 << 10, 1 << 20);
  const auto message_of = [&](std::vector<std::string> values) {
    try {
      (void)autoschedule::schedule_at(program, target, kSizes,
                                      {.text = {}, .name = "p", .in_order = std::move(values)});
    } catch (const CompileError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message_of({"9x9"}).starts_with("p: expected one of 1x1, "));
  CHECK(message_of({"#999"}).starts_with("p: expected one of 1x1, "));
  CHECK(message_of({"#-1"}).starts_with("p: expected one of 1x1, "));
  CHECK(message_of(std::vector<std::string>(40, "#0")).starts_with("p: expected at most "));
}
