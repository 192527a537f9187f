// Tests that every point of every rule's space gives a legal schedule with the results of the reference evaluator. Of
// knobs with many candidates a sample is tried, and every twelfth schedule is run, at one of a program's sizes; with
// FERRY_POINTS_ALL, as in autoschedule_long_test, four times as many candidates, all of them at all sizes.
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/validator.h"
#include "crosscompile/passes/pipeline.h"
#include "ferry/lang/text.h"
#include "host/autoschedule/decisions.h"
#include "host/lower/lower.h"
#include "tests/fuzz/cases/call.h"
#include "tests/unit/host/autoschedule/rule_cases.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace ferry;
using autoschedule::Decision;
using autoschedule::KnobValue;
using autoschedule::Point;

namespace {

constexpr std::uint64_t kSeed = 1;
bool is_long() { return std::getenv("FERRY_POINTS_ALL") != nullptr; }
// Number of candidates of a knob that are tried; of more, a sample.
std::size_t tried() { return is_long() ? 8 : 2; }
// One in this many schedules is run, and one in so many of these also after the passes.
constexpr std::size_t kRun = 12, kPassed = 3;
// Combinations of points of all decisions.
constexpr int kCombinations = 6;

Point with(const Point& point, const std::string& knob, const KnobValue& value) {
  std::map<std::string, KnobValue> values = point.values();
  values.at(knob) = value;
  return Point(std::move(values));
}

Point random_point(const autoschedule::Space& space, std::mt19937& random) {
  std::map<std::string, KnobValue> values;
  for (const autoschedule::SpaceKnob& knob : space.knobs)
    values.emplace(knob.name, knob.candidates[random() % knob.candidates.size()]);
  return Point(std::move(values));
}

Point corner(const autoschedule::Space& space, bool is_last) {
  std::map<std::string, KnobValue> values;
  for (const autoschedule::SpaceKnob& knob : space.knobs)
    values.emplace(knob.name, is_last ? knob.candidates.back() : knob.candidates.front());
  return Point(std::move(values));
}

// Returns the corners, the neighbours of the default point along every knob, and random points.
std::vector<Point> points_to_try(const autoschedule::Space& space, std::mt19937& random) {
  std::vector<Point> points = {corner(space, false), corner(space, true)};
  for (const autoschedule::SpaceKnob& knob : space.knobs) {
    const std::size_t step = (knob.candidates.size() + tried() - 1) / tried();
    for (std::size_t i = random() % step; i < knob.candidates.size(); i += step)
      points.push_back(with(space.default_point(), knob.name, knob.candidates[i]));
  }
  for (int i = 0; i < (is_long() ? 2 : 1); ++i) points.push_back(random_point(space, random));
  return points;
}

class Trial {
 public:
  explicit Trial(const test::RuleCase& rule_case)
      : case_(rule_case), program_(lang::parse(rule_case.source, "test.tc").at(0)) {
    const ir::Function unscheduled = lower::lower(program_, schedule::Schedule(program_));
    for (const fuzz::Sizes& sizes : case_.sizes) {
      calls_.push_back(std::make_unique<fuzz::Call>(unscheduled, sizes, kSeed));
      expected_.emplace_back(program_, *calls_.back());
    }
  }

  autoschedule::DecidedSchedule decide(const autoschedule::Chooser& choose) const {
    return autoschedule::decide_schedule(program_, case_.target, case_.expected_sizes, choose);
  }

  // Compares the results of the schedule with the reference, unless they have been already.
  void check(const schedule::Schedule& schedule) {
    const std::string text = schedule.to_text();
    if (!seen_.insert(text).second) return;
    INFO(case_.name << "\n" << text);
    ir::Function lowered;
    REQUIRE_NOTHROW(lowered = lower::lower(program_, schedule));
    ir::validate(lowered, "lower");
    // Interpreting takes most of the time. The passes have tests of their own; a few schedules go through them.
    const std::size_t earlier = seen_.size() - 1;
    const bool is_run = is_long() || earlier % kRun == 0;
    const bool is_passed = is_run && earlier / kRun % kPassed == 0;
    const ir::Function passed = is_passed ? passes::run_pipeline(lowered, case_.target) : ir::Function();
    for (std::size_t i = 0; i < case_.sizes.size(); ++i) {
      // At the sizes in turn.
      const bool is_due = is_long() || (is_run && earlier / kRun % case_.sizes.size() == i);
      if (!is_due) continue;
      std::string shown;
      for (const auto& [name, size] : case_.sizes[i]) shown += name + "=" + std::to_string(size) + " ";
      INFO("at " << shown);
      for (const ir::Function* function : std::initializer_list<const ir::Function*>{&lowered, &passed}) {
        if (function == &passed && !is_passed) continue;
        fuzz::Call call(*function, case_.sizes[i], kSeed);
        std::int32_t result = -1;
        REQUIRE_NOTHROW(result = ir::interpret(*function, call.pointers()));
        CHECK(result == 0);
        CHECK(expected_[i].difference(call) == "");
        CHECK(call.damage() == "");
      }
    }
  }

  std::size_t schedules() const { return seen_.size(); }

 private:
  const test::RuleCase& case_;
  lang::Program program_;
  std::vector<std::unique_ptr<fuzz::Call>> calls_;  // the inputs of the expectations
  std::vector<fuzz::Expectation> expected_;         // at each of the sizes
  std::set<std::string> seen_;
};

}  // namespace

TEST_CASE("every point of every rule's space is legal and computes what the program says") {
  for (const test::RuleCase& rule_case : test::rule_cases()) {
    CAPTURE(rule_case.name);
    Trial trial(rule_case);
    const std::vector<Decision> decisions = trial.decide(autoschedule::choose_default).decisions;
    std::set<std::string> rules;
    for (const Decision& decision : decisions) rules.insert(decision.rule);
    for (const std::string& rule : rule_case.rules) CHECK_MESSAGE(rules.contains(rule), rule);
    std::mt19937 random(1);
    for (const Decision& varied : decisions) {
      for (const Point& point : points_to_try(varied.space, random)) {
        const auto choose = [&](const Decision& decision) {
          const bool is_varied = decision.stage == varied.stage && decision.rule == varied.rule;
          return is_varied && decision.space.contains(point) ? point : decision.space.default_point();
        };
        trial.check(trial.decide(choose).schedule);
      }
    }
    for (int i = 0; i < kCombinations; ++i)
      trial.check(
          trial.decide([&](const Decision& decision) { return random_point(decision.space, random); }).schedule);
    CHECK(trial.schedules() >= 3);
  }
}
