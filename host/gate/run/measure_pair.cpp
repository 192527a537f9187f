#include "host/gate/run/measure_pair.h"

#include <cmath>

#include "host/gate/run/find_failed_side.h"
#include "host/kernel/kernel_failure.h"
#include "host/measure/measured_function.h"
#include "host/measure/memory_layout.h"
#include "host/measure/warnings.h"

namespace ferry::gate {

void expect_same_environment(const Environment& before, const Environment& after) {
  if (before == after) return;
  throw Error(ErrorCode::unavailable, "the environment has changed between two sessions, from " + to_text(before) +
                                          " to " + to_text(after) + ": their times are not comparable");
}

Environment environment_of(const bench::RanOn& on, const std::string& governor) {
  return {on.board, on.processor, on.facts.operating_system + " " + on.facts.arch, governor};
}

MeasuredPair measure_pair(const OpenSession& open, const RunSettings& settings, const PerSide<MeasuredSide>& sides,
                          std::uint32_t layout, bool current_first, stats::Random& random, const Observer& observer) {
  const bench::ProcessLayout placed{
      bench::draw_memory_layout(random, !settings.devices.empty()), {layout, layout}, current_first};
  bench::PairedRun run;
  std::optional<std::size_t> crashed;
  try {
    run = bench::paired_run(open, settings, sides.both, placed, observer, &crashed);
  } catch (const Error& error) {
    if (!is_failure_of_kernel(error)) throw;
    FailedPair failed{layout, placed, error, {}};
    if (crashed) failed.crashed_in = kSides[*crashed];
    throw find_failed_side(open, settings, sides, failed, observer);
  }
  const bench::ComparedProcess& process = run.process;
  for (const Side side : {Side::current, Side::baseline}) {
    const std::string& mistake = process.mistakes[index_of(side)];
    if (!mistake.empty()) throw SideFailed(side, "timed calls: " + mistake);
  }
  if (!process.difference.empty()) throw SideFailed(Side::current, "the results differ: " + process.difference);
  const Timing& baseline = process.timings[index_of(Side::baseline)];
  const Timing& current = process.timings[index_of(Side::current)];
  if (std::isnan(process.log_ratio))
    throw UsageError("expected times above 0, got calls too short for the clock of " + run.on.board);
  const Timing& first = current_first ? current : baseline;
  const bench::Environment board = bench::read_environment(first);
  // The ratio of a pair is that of the current side to the baseline.
  std::vector<std::string> warnings = bench::board_warnings(first, board, run.on.facts.logical_cores);
  std::string impossible;
  for (const Side side : kSides) {
    const std::string& why = process.too_fast[index_of(side)];
    if (!why.empty())
      impossible = std::string(side == Side::current ? "the current module" : "the baseline") + " takes " + why;
  }
  if (!process.unchecked.empty()) warnings.push_back(process.unchecked);
  return {{layout, current_first, {baseline.median(), current.median()}, -process.log_ratio},
          environment_of(run.on, board.governor_after),
          std::move(warnings),
          bench::method_of(sides[Side::current].info, first, settings.sampling.bench.cold, 0),
          std::move(impossible)};
}

}  // namespace ferry::gate
