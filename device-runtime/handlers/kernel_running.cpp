#include "device-runtime/handlers/kernel_running.h"

#include "base/format.h"

namespace ferry::device {

Status result_status(const FunctionInfo& info, std::int32_t result) {
  if (result == 0) return {};
  if (result > 0 && static_cast<std::size_t>(result) <= info.messages.size()) {
    return {ErrorCode::invalid_argument, info.name + ": " + info.messages[static_cast<std::size_t>(result) - 1]};
  }
  return {ErrorCode::invalid_argument, format("%s: the kernel failed: it returned %d", info.name.c_str(), result)};
}

Status device_status(RequestContext& context, const FunctionInfo& info, const Workload& workload) {
  Status failure = workload.failure();
  if (failure.code() == ErrorCode::kernel_crashed) context.report_crash(info.name, failure.message());
  return failure;
}

}  // namespace ferry::device
