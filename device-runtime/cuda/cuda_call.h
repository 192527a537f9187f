// One call of a plan on a GPU: its launches, in order, on the device's stream.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device-runtime/cuda/cuda_device.h"
#include "device-runtime/device/plan_call.h"

namespace ferry::device {

class CudaProgram;

class CudaCall final : public Workload {
 public:
  CudaCall(CudaDevice& device, std::string function, std::uint64_t workspace_bytes)
      : device_(device), function_(std::move(function)), bytes_(workspace_bytes) {}
  CudaCall(const CudaCall&) = delete;
  CudaCall& operator=(const CudaCall&) = delete;
  ~CudaCall() override;

  Status prepare(CudaProgram& program, const FunctionInfo& function, std::span<const DeviceArgument> arguments,
                 const BoundCall& bound);

  std::int32_t run() override;
  // Timed by events on the device, so launch overhead counts only if the device waits for it.
  std::int32_t sample(std::uint64_t calls, std::int64_t& elapsed_ns) override;
  std::int64_t clock_resolution_ns() const override;
  std::vector<StepTime> steps() const override;
  // Each launch is timed between two events.
  std::int32_t run_timed(std::span<std::int64_t> elapsed_ns) override;
  // kernel_crashed names the kernel, or several candidates if the one that crashed is unknown.
  Status failure() const override { return failure_; }

 private:
  struct PreparedLaunch {
    CuFunction function = nullptr;
    std::vector<void*> parameters;  // into bound_
    int registers = 0, shared_bytes = 0;
  };

  CuResult launch_all(bool marked);
  CuResult launch(std::size_t index);
  CuResult mark(std::size_t ended);
  CuResult make_events(std::size_t count);
  CuResult elapsed(std::size_t from, std::size_t to, std::int64_t& elapsed_ns) const;
  // Returns the error number that the kernels stored; 0 if they cannot fail.
  std::int32_t result();
  std::int32_t fail(const char* what, CuResult error, bool marked);
  std::string kernels(bool marked) const;

  CudaDevice& device_;
  std::string function_;
  std::uint64_t bytes_;
  void* workspace_ = nullptr;
  void* result_ = nullptr;
  std::vector<BoundLaunch> bound_;
  std::vector<PreparedLaunch> launches_;
  std::vector<CuEvent> events_;  // created on first use
  // Number of launches that have ended, for calls of several launches; the device writes it and it is readable after a
  // crash.
  volatile unsigned* mark_ = nullptr;
  CuDevicePointer mark_address_ = 0;
  Status failure_;
};

}  // namespace ferry::device
