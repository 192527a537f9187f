// Accompanies every run of a kernel: its name on the activity page, and the interpretation of its result.
#pragma once

#include <string_view>

#include "base/status.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/measure/measure.h"
#include "device-runtime/session/state/request_context.h"
#include "module/manifest.h"

namespace ferry::device {

// Records on the activity page which kernel runs, or that a module is being loaded, so that a crash report can name it
// and the time limit of a call applies.
class KernelRunning {
 public:
  KernelRunning(RequestContext& context, std::string_view name) : activity_(context.activity()) {
    // The time that the request has waited before, for example for a long upload, does not count.
    activity_.started_ns.store(now_ns());
    activity_.begin_kernel(name);
  }
  KernelRunning(const KernelRunning&) = delete;
  KernelRunning& operator=(const KernelRunning&) = delete;
  ~KernelRunning() { activity_.end_kernel(); }

 private:
  Activity& activity_;
};

// Converts a kernel's result into a status for the caller.
Status result_status(const FunctionInfo& info, std::int32_t result);

// Returns the reason why the device could not run the call, or ok. After a crash the device is unusable, and the
// session ends with the answer.
Status device_status(RequestContext& context, const FunctionInfo& info, const Workload& workload);

}  // namespace ferry::device
