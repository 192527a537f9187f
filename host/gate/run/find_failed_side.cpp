#include "host/gate/run/find_failed_side.h"

#include "host/kernel/kernel_failure.h"
#include "host/measure/code_layout.h"

namespace ferry::gate {

namespace {

struct FailureAlone {
  std::string message;
  std::uint32_t runs_before = 0;
};

RunSettings called_once(RunSettings measured) {
  measured.sampling.bench.number = 1;
  measured.sampling.bench.repeat = 1;
  measured.sampling.bench.min_repeat_ms = 0;
  measured.sampling.bench.warmup_ms = 0;
  return measured;
}

// A kernel that exceeded the limit of a call need only be called: the limit applies to a measurement as a whole, so
// that a measurement may exceed it although no call does.
RunSettings alone_after(const Error& error, const RunSettings& measured) {
  return error.code() == ErrorCode::deadline_exceeded ? called_once(measured) : measured;
}

std::optional<FailureAlone> failure_alone(const OpenSession& open, const RunSettings& measured,
                                          const MeasuredSide& side, const FailedPair& failed,
                                          const Observer& observer) {
  const RunSettings alone = alone_after(failed.error, measured);
  const bench::PlacedSide only[] = {{side, failed.layout}};
  for (std::uint32_t run = 0; run < kRunsAlone; ++run) {
    try {
      bench::measure_process(open, alone, only, failed.memory, observer);
    } catch (const Error& error) {
      if (!is_failure_of_kernel(error)) throw;
      return FailureAlone{error.what(), run};
    }
  }
  return std::nullopt;
}

// Returns the message with which a call ended; empty if it ended well.
std::string hang_alone(const OpenSession& open, const RunSettings& measured, const PerSide<MeasuredSide>& sides,
                       Side side, const Observer& observer) {
  const bench::PlacedSide only[] = {{sides[side], bench::kFirstLayout}};
  try {
    bench::measure_process(open, called_once(measured), only, {0, {0}}, observer);
  } catch (const Error& error) {
    if (is_failure_of_kernel(error)) throw SideFailed(side, error.what());
    if (!may_be_hang(error)) throw;
    return error.what();
  }
  return {};
}

std::string times(std::uint32_t count) { return count == 1 ? "once" : std::to_string(count) + " times"; }

}  // namespace

SideFailed find_failed_side(const OpenSession& open, const RunSettings& measured, const PerSide<MeasuredSide>& sides,
                            const FailedPair& failed, const Observer& observer) {
  // If both fail, the current one does.
  for (const Side side : {Side::current, Side::baseline}) {
    const MeasuredSide& module = sides[side];
    const auto failure = failure_alone(open, measured, module, failed, observer);
    if (!failure) continue;
    if (failure->runs_before == 0) return {side, failure->message};
    return {side, failure->message + "; it fails only sometimes: alone, it ran " + times(failure->runs_before) +
                      " without a failure before"};
  }
  const std::string message = failed.error.what();
  if (failed.error.code() == ErrorCode::deadline_exceeded) {
    return {std::nullopt, message + "; alone, a call of either side is within it: a longer --call-deadline " +
                              "leaves time for a measurement"};
  }
  const std::string alone = ": alone, it ran " + times(kRunsAlone) + " without a failure";
  if (failed.crashed_in) return {*failed.crashed_in, message + "; it fails only sometimes" + alone};
  return {std::nullopt, message + "; one of both sides fails only sometimes: alone, each ran " + times(kRunsAlone) +
                            " without a failure"};
}

std::optional<SideFailed> find_hanging_side(const OpenSession& open, const RunSettings& measured,
                                            const PerSide<MeasuredSide>& sides, const Observer& observer) {
  const std::string baseline = hang_alone(open, measured, sides, Side::baseline, observer);
  const std::string current = hang_alone(open, measured, sides, Side::current, observer);
  if (baseline.empty() == current.empty()) return std::nullopt;
  if (baseline.empty()) return SideFailed(Side::current, current + "; a call of the baseline ends well within it");
  return SideFailed(Side::baseline, baseline + "; a call of the current module ends well within it");
}

}  // namespace ferry::gate
