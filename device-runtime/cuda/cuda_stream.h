// The steps of a plan on a GPU, in order on the device's stream.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "device-runtime/cuda/cuda_program.h"

namespace ferry::device {

class CudaStream final : public Stream {
 public:
  CudaStream(CudaDevice& device, CudaProgram& program, const FunctionInfo& function)
      : device_(device), program_(program), function_(function) {}
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() override;

  Status add(BoundNativeCall call) override;
  Status add(BoundLaunch launch) override;
  Status add(BoundCopy copy) override;
  Status add(BoundFill fill) override;
  std::int32_t set(std::size_t step, std::size_t operand, std::uint64_t to) override;
  StepTime describe(std::size_t step) const override;
  std::int32_t run(std::size_t step, bool traced) override;
  std::int32_t wait() override;
  // Measured by events on the device, so launch overhead counts only if the device waits for it.
  std::int32_t start_timing(std::size_t slot) override;
  std::int32_t end_timing(std::size_t slot) override;
  std::int32_t elapsed(std::size_t slot, std::int64_t& elapsed_ns) const override;
  std::int64_t clock_resolution_ns() const override;
  // kernel_crashed names the kernel, or several candidates if the one that crashed is unknown.
  Status failure() const override { return failure_; }

 private:
  struct Launch {
    BoundLaunch bound;
    CudaKernel kernel;
    std::vector<void*> parameters;  // into bound.operands
  };

  Status prepare_mark();
  CuResult enqueue(Launch& launch);
  CuResult enqueue(const BoundCopy& copy);
  CuResult enqueue(const BoundFill& fill);
  std::int32_t record(std::size_t event);
  std::int32_t fail(const char* what, CuResult error) const;
  std::string kernels() const;

  CudaDevice& device_;
  CudaProgram& program_;
  const FunctionInfo& function_;
  std::vector<std::variant<Launch, BoundCopy, BoundFill>> steps_;
  std::vector<CuEvent> events_;  // two for each slot, created on first use
  // Number of steps that have ended, for plans of several steps; the device writes it and it is readable after a crash.
  volatile unsigned* mark_ = nullptr;
  CuDevicePointer mark_address_ = 0;
  bool is_traced_ = false;  // the mark is that of the steps that run
  std::size_t next_ = 0;    // the step after the one that was enqueued last; 0: everything has ended
  mutable Status failure_;
};

}  // namespace ferry::device
