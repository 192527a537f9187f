#include "device-runtime/handlers/calls.h"

#include <algorithm>

#include "device-runtime/handlers/call_arguments.h"
#include "device-runtime/handlers/kernel_running.h"
#include "device-runtime/measure/clock.h"

namespace ferry::device {

Result<rpc::CallReply> run_once(SessionState& state, RequestContext& context, const CheckedCall& call,
                                PlanCall& workload) {
  std::int32_t result = 0;
  std::int64_t elapsed = 0;
  {
    state.access.isolation.has_run_code = true;
    const KernelRunning running(context, call.info().name);
    const std::int64_t begin = now_ns();
    result = workload.run();
    elapsed = now_ns() - begin - clock_overhead_ns();
  }
  context.log(call.module->take_printed());
  FERRY_TRY(device_status(context, call.info(), workload));
  FERRY_TRY(result_status(call.info(), result));
  FERRY_TRY(check_damage(call));
  return rpc::CallReply{static_cast<std::uint64_t>(std::max<std::int64_t>(elapsed, 0))};
}

Result<rpc::CallReply> handle_call(SessionState& state, RequestContext& context, const rpc::Call& request) {
  FERRY_ASSIGN(const CheckedCall call, check_call(state, context, request));
  KeptCall& kept = call.instance != nullptr ? call.instance->kept_call : call.module->kept_calls[call.function];
  std::unique_ptr<PlanCall> workload = kept.take(call.arguments, call.bound.symbols);
  if (workload == nullptr) {
    kept.drop();
    FERRY_ASSIGN(workload, prepare_call(call));
  }
  FERRY_ASSIGN(const rpc::CallReply reply, run_once(state, context, call, *workload));
  mark_outputs_written(state, request, call);
  kept.keep(call.arguments, call.bound.symbols, std::move(workload));
  return reply;
}

}  // namespace ferry::device
