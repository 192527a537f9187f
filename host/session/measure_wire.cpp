#include "host/session/measure_wire.h"

#include <string>
#include <utility>

#include "base/throw_status.h"

namespace ferry::session {

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
    timings.push_back({std::move(samples), evaluation.environment});
  }
  return timings;
}

}  // namespace ferry::session
