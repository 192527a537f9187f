// What goes with every run of a kernel: its name on the activity page, and what its result means.
#pragma once

#include <string_view>

#include "device-runtime/handlers/exchange.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/measure/measure.h"
#include "rpc/abi/manifest.h"
#include "rpc/base/status.h"

namespace ferry::device {

// Tells the activity page what runs, a kernel or what a module makes its loader do, so that a crash has a name and the
// limit of a call holds.
class KernelRunning {
 public:
  KernelRunning(Exchange& exchange, std::string_view name) : activity_(exchange.activity()) {
    // What the request has waited for before, a long upload perhaps, does not count.
    activity_.started_ns.store(now_ns());
    activity_.begin_kernel(name);
  }
  KernelRunning(const KernelRunning&) = delete;
  KernelRunning& operator=(const KernelRunning&) = delete;
  ~KernelRunning() { activity_.end_kernel(); }

 private:
  Activity& activity_;
};

// What a kernel's result means to the caller.
Status result_status(const FunctionInfo& info, std::int32_t result);

// Why the device could not run it, or ok. After a crash the device is of no use, and the session ends with the answer.
Status device_status(Exchange& exchange, const FunctionInfo& info, const Workload& workload);

}  // namespace ferry::device
