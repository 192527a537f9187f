#include "host/client/measure_wire.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/throw_status.h"

namespace ferry::session {
namespace {

void expect_time(const char* request, const char* what, double seconds) {
  // Written so that not-a-number is refused.
  if (seconds >= 0 && seconds <= kLongestTime) return;
  throw Error(ErrorCode::protocol_error,
              format("%s: expected %s from 0 to %g s, got %g", request, what, kLongestTime, seconds));
}

// A device that has not counted says so with not-a-number.
void expect_count(const char* what, double count) {
  constexpr double kMost = 1e19;
  if (std::isnan(count) || (count >= 0 && count <= kMost)) return;
  throw Error(ErrorCode::protocol_error, format("evaluate: expected a number of %s a call, got %g", what, count));
}

void expect_possible(const Samples& samples) {
  for (const double seconds : samples.seconds) expect_time("evaluate", "the time of a sample", seconds);
  if (samples.number == 0)
    throw Error(ErrorCode::protocol_error, "evaluate: expected samples of at least one call, got none");
  expect_time("evaluate", "the time of the first call", samples.first_s);
  expect_time("evaluate", "the time of calls by themselves", samples.alone_s);
  expect_count("cycles", samples.cycles);
  expect_count("instructions", samples.instructions);
  expect_count("cache misses", samples.cache_misses);
}

}  // namespace

std::vector<Timing> timings_of(Evaluation evaluation, std::size_t calls) {
  if (evaluation.calls.size() != calls) {
    throw Error(ErrorCode::protocol_error, "evaluate: expected samples of " + std::to_string(calls) +
                                               " calls, got those of " + std::to_string(evaluation.calls.size()));
  }
  std::vector<Timing> timings;
  for (Samples& samples : evaluation.calls) {
    const std::size_t count = samples.seconds.size();
    if (count == 0) throw Error(ErrorCode::protocol_error, "evaluate: a call came back without samples");
    if (samples.switches.size() != count || samples.cores.size() != count) {
      throw Error(ErrorCode::protocol_error,
                  "evaluate: expected switches and a core of each of " + std::to_string(count) + " samples, got " +
                      std::to_string(samples.switches.size()) + " and " + std::to_string(samples.cores.size()));
    }
    expect_possible(samples);
    timings.push_back({std::move(samples), evaluation.environment});
  }
  expect_time("evaluate", "the time of the measurement", evaluation.environment.elapsed_s);
  return timings;
}

std::vector<StepTime> steps_of(std::vector<StepTime> steps, std::uint32_t repeat) {
  for (const StepTime& step : steps) {
    if (step.seconds.size() != repeat) {
      throw Error(ErrorCode::protocol_error,
                  format("time_steps: expected %u times of a step, got %zu", repeat, step.seconds.size()));
    }
    for (const double seconds : step.seconds) expect_time("time_steps", "the time of a step", seconds);
  }
  return steps;
}

}  // namespace ferry::session
