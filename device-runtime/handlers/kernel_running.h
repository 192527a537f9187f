// What goes with every run of a kernel: its name on the activity page, and what its result means.
#pragma once

#include "device-runtime/handlers/exchange.h"
#include "device-runtime/measure/measure.h"
#include "rpc/abi/manifest.h"
#include "rpc/base/status.h"

namespace ferry::device {

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

// What a kernel's result means to the caller.
Status result_status(const FunctionInfo& info, std::int32_t result);

// Why the device could not run it, or ok. After a crash the device is of no use, and the session ends with the answer.
Status device_status(Exchange& exchange, const FunctionInfo& info, const Workload& workload);

}  // namespace ferry::device
