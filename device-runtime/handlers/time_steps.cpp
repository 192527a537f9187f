#include "device-runtime/handlers/time_steps.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/format.h"
#include "device-runtime/handlers/call_arguments.h"
#include "device-runtime/handlers/call_threads.h"
#include "device-runtime/handlers/cold_calls.h"
#include "device-runtime/handlers/kernel_running.h"
#include "device-runtime/measure/clock.h"

namespace ferry::device {
namespace {

constexpr std::uint32_t kMostRepeat = 1000;
// The times, of 8 bytes each, and the names of the launches must fit the body of the answer.
constexpr std::size_t kMostTimes = 60'000;

Status refuse(const CheckedCall& call, std::string what) {
  return {ErrorCode::invalid_argument, call.info().name + ": " + std::move(what)};
}

Status check_request(const CheckedCall& call, const rpc::TimeSteps& request, std::size_t steps) {
  if (request.repeat < 1 || request.repeat > kMostRepeat) {
    return refuse(call, format("expected 1 to %u repetitions of its steps, got %u", kMostRepeat, request.repeat));
  }
  if (steps > kMostTimes / request.repeat) {
    return refuse(call, format("expected at most %zu times, got %u of %zu steps", kMostTimes, request.repeat, steps));
  }
  return {};
}

}  // namespace

Result<rpc::StepTimes> handle_time_steps(SessionState& state, RequestContext& context, const rpc::TimeSteps& request) {
  FERRY_ASSIGN(const CheckedCall call, check_call(state, context, request.call));
  FERRY_ASSIGN(const auto workload, prepare_call(call));
  rpc::StepTimes reply{0, workload->steps()};
  FERRY_TRY(check_request(call, request, reply.steps.size()));
  std::optional<ColdCalls> cold;
  if (request.cold) {
    cold.emplace(state.facts);
    FERRY_TRY(cold->add(call, call.kept().persistent));
  }
  CallThreads threads(state);
  FERRY_TRY(threads.choose(request.cores, request.threads));
  std::vector<std::int64_t> elapsed(reply.steps.size());
  std::int32_t result = 0;
  std::int64_t whole = 0;
  {
    state.access.isolation.has_run_code = true;
    const KernelRunning running(context, call.info().name);
    for (std::uint32_t i = 0; i < request.repeat && result == 0; ++i) {
      if (cold) cold->empty_caches(0);
      const std::int64_t begin = now_ns();
      result = workload->run_timed(elapsed);
      whole = now_ns() - begin - clock_overhead_ns();
      for (std::size_t s = 0; s < elapsed.size(); ++s) {
        reply.steps[s].seconds.push_back(static_cast<double>(elapsed[s]) * 1e-9);
      }
    }
  }
  context.log(call.module->take_printed());
  FERRY_TRY(device_status(context, call.info(), *workload));
  FERRY_TRY(result_status(call.info(), result));
  FERRY_TRY(check_damage(call));
  mark_outputs_written(state, request.call, call);
  reply.elapsed_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(whole, 0));
  return reply;
}

}  // namespace ferry::device
