#include "device-runtime/handlers/calls.h"

#include <algorithm>

#include "device-runtime/handlers/call_arguments.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/measure/measure.h"
#include "rpc/base/format.h"

namespace ferry::device {
namespace {

// What a kernel's result means to the caller.
Status result_status(const FunctionInfo& info, std::int32_t result) {
  if (result == 0) return {};
  if (result > 0 && static_cast<std::size_t>(result) <= info.messages.size()) {
    return {ErrorCode::invalid_argument, info.name + ": " + info.messages[static_cast<std::size_t>(result) - 1]};
  }
  return {ErrorCode::device_error,
          format("%s: the kernel returned %d, which its module does not explain", info.name.c_str(), result)};
}

// Tells the activity page which kernel runs, so that a crash has a name.
class KernelRunning {
 public:
  KernelRunning(Exchange& exchange, const FunctionInfo& info) : activity_(exchange.activity()) {
    activity_.begin_kernel(info.name);
  }
  KernelRunning(const KernelRunning&) = delete;
  KernelRunning& operator=(const KernelRunning&) = delete;
  ~KernelRunning() { activity_.end_kernel(); }

 private:
  Activity& activity_;
};

}  // namespace

Result<rpc::CallReply> handle_call(SessionState& state, Exchange& exchange, const rpc::Call& request) {
  FERRY_ASSIGN(const CheckedCall call, check_call(state, exchange, request));
  FERRY_ASSIGN(auto workload, call.module->program->prepare(call.function, call.arguments, call.bound));
  std::int32_t result = 0;
  std::int64_t elapsed = 0;
  {
    const KernelRunning running(exchange, call.info());
    const std::int64_t begin = now_ns();
    result = workload->run();
    elapsed = now_ns() - begin - clock_overhead_ns();
  }
  exchange.log(state.devices.front()->take_printed());
  FERRY_TRY(result_status(call.info(), result));
  mark_outputs_written(state, request, call);
  return rpc::CallReply{static_cast<std::uint64_t>(std::max<std::int64_t>(elapsed, 0))};
}

Result<rpc::MeasureReply> handle_measure(SessionState& state, Exchange& exchange, const rpc::Measure& request) {
  FERRY_ASSIGN(const CheckedCall call, check_call(state, exchange, request.call));
  FERRY_ASSIGN(auto workload, call.module->program->prepare(call.function, call.arguments, call.bound));
  const MeasurePlan plan{request.number, request.repeat, request.min_repeat_ms, request.warmup_ms};
  Result<MeasureOutcome> outcome = [&] {
    const KernelRunning running(exchange, call.info());
    return measure(plan, *workload);
  }();
  exchange.log(state.devices.front()->take_printed());
  FERRY_TRY(outcome.status());
  FERRY_TRY(result_status(call.info(), outcome.value().failure));
  mark_outputs_written(state, request.call, call);
  Measurement& samples = outcome.value().measurement;
  return rpc::MeasureReply{std::move(samples.seconds), samples.number, samples.warmup_calls, state.facts.threads};
}

}  // namespace ferry::device
