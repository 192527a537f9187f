// Compares the order in which the analysis of machine code puts the cost model's first choices with measured times.
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/cost/core.h"
#include "crosscompile/passes/pipeline.h"
#include "host/lower/lower.h"
#include "tests/unit/host/tune/spaces/measured_space.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

using namespace ferry;
using test::MeasuredSpace;

namespace {

constexpr std::size_t kSchedules = 16;

struct Candidate {
  std::vector<std::size_t> point;
  double seconds = 0;
  cost::Estimate estimate;
  double code_cycles = 0;
};

// Returns the model's first points, with so many different schedules.
std::vector<Candidate> candidates_of(const MeasuredSpace& space) {
  std::vector<Candidate> all, chosen;
  for (const auto& [point, time] : space.times()) all.push_back({point, time.seconds, space.estimate_at(point)});
  std::ranges::stable_sort(all, {}, [](const Candidate& one) { return one.estimate.cycles; });
  std::map<std::string, double> known;
  const cost::Core core = cost::core_of(space.target());
  const codegen::CoreModel model{core.scheduling_model, [&](double trips) { return core.loop_cycles(trips); }};
  for (Candidate& one : all) {
    const autoschedule::DecidedSchedule decided = space.schedule_at(one.point);
    const std::string schedule = decided.schedule.to_text();
    if (!known.contains(schedule)) {
      if (known.size() == kSchedules) break;
      const ir::Function function =
          passes::run_pipeline(lower::lower(space.program(), decided.schedule), space.target());
      const std::optional<double> code = codegen::code_cycles(function, space.target(), model);
      REQUIRE(code.has_value());
      known[schedule] = cost::with_compute_cycles(one.estimate, *code).cycles;
    }
    one.code_cycles = known.at(schedule);
    chosen.push_back(one);
  }
  return chosen;
}

}  // namespace

TEST_CASE("the first choice by machine code is at least as fast as the cost model's, on average over measured spaces") {
  double by_model = 0, by_code = 0;
  std::printf("first choice over the best point\n%-20s %8s %8s\n", "space", "model", "code");
  for (const MeasuredSpace& space : test::measured_spaces()) {
    std::vector<Candidate> candidates = candidates_of(space);
    const double best = space.sorted_seconds().front(), first = candidates.front().seconds;
    std::ranges::stable_sort(candidates, {}, &Candidate::code_cycles);
    std::printf("%-20s %8.3f %8.3f\n", space.name().c_str(), first / best, candidates.front().seconds / best);
    by_model += std::log(first / best);
    by_code += std::log(candidates.front().seconds / best);
  }
  const auto spaces = static_cast<double>(test::measured_spaces().size());
  std::printf("%-20s %8.3f %8.3f\n", "geometric mean", std::exp(by_model / spaces), std::exp(by_code / spaces));
  CHECK(by_code <= by_model);
  // A little worse than today's 1.15.
  CHECK(std::exp(by_code / spaces) <= 1.16);
}
