#include "host/session/measure_wire.h"

#include <string>

#include "host/session/remote_error.h"

namespace ferry::session {

rpc::Evaluate evaluate_request(const BenchOptions& options) {
  rpc::Evaluate request;
  request.number = options.number;
  request.repeat = options.repeat;
  request.max_repeat = options.max_repeat;
  request.min_repeat_ms = options.min_repeat_ms;
  request.warmup_ms = options.warmup_ms;
  request.cooldown_ms = options.cooldown_ms;
  request.timeout_ms = options.timeout_ms;
  request.tolerance = options.tolerance;
  request.cold = options.cold;
  request.cores = options.cores;
  request.threads = options.threads;
  request.watch = options.watch;
  return request;
}

std::vector<StepTime> steps_of(const rpc::StepTimes& times) {
  std::vector<StepTime> steps;
  for (const rpc::StepTiming& step : times.steps) {
    steps.push_back({step.kernel, step.grid, step.block, step.shared_bytes, step.registers, step.seconds});
  }
  return steps;
}

std::vector<Timing> timings_of(const rpc::Evaluation& evaluation, std::size_t calls) {
  if (evaluation.sets.size() != calls) {
    throw RemoteError(ErrorCode::protocol_error, "evaluate: expected samples of " + std::to_string(calls) +
                                                     " calls, got those of " + std::to_string(evaluation.sets.size()));
  }
  for (const rpc::SampleSet& set : evaluation.sets) {
    if (set.samples.empty()) throw RemoteError(ErrorCode::protocol_error, "evaluate: a call came back without samples");
  }
  Timing common;
  common.threads = evaluation.threads;
  common.counters_errno = evaluation.counters_errno;
  common.ended = static_cast<TimingEnd>(evaluation.ended);
  common.elapsed_s = evaluation.elapsed_s;
  common.clock_resolution_ns = evaluation.clock_resolution_ns;
  common.clock_overhead_ns = evaluation.clock_overhead_ns;
  common.wiped_bytes = evaluation.wiped_bytes;
  common.voluntary_switches = evaluation.voluntary_switches;
  common.involuntary_switches = evaluation.involuntary_switches;
  for (const rpc::WatchedFile& file : evaluation.watched)
    common.watched.push_back({file.path, file.before, file.after});
  std::vector<Timing> timings;
  for (const rpc::SampleSet& set : evaluation.sets) {
    Timing timing = common;
    timing.number = set.number;
    timing.warmup_calls = set.warmup_calls;
    timing.cycles = set.cycles;
    timing.instructions = set.instructions;
    timing.cache_misses = set.cache_misses;
    for (const rpc::Sample& sample : set.samples) {
      timing.seconds.push_back(sample.seconds);
      timing.switches.push_back(sample.switches);
      timing.cores.push_back(sample.core);
    }
    timings.push_back(std::move(timing));
  }
  return timings;
}

}  // namespace ferry::session
