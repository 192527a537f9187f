// One call of a plan, with its workspaces: it binds the plan once and runs its steps in order, on every device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device-runtime/measure/measure.h"
#include "device-runtime/plan/bind_plan.h"

namespace ferry::device {

class PlanCall final : public Workload {
 public:
  // Prepares a call that can be run repeatedly. Workspaces are allocated here, before any timing starts, and released
  // with the call. All references must outlive it.
  static Result<std::unique_ptr<PlanCall>> prepare(Device& device, Program& program, const FunctionInfo& function,
                                                   std::span<const DeviceArgument> arguments, const BoundCall& bound);
  PlanCall(const PlanCall&) = delete;
  PlanCall& operator=(const PlanCall&) = delete;
  ~PlanCall() override;

  std::int32_t run() override;
  std::int32_t sample(std::uint64_t calls, std::int64_t& elapsed_ns) override;
  std::int64_t clock_resolution_ns() const override { return stream_->clock_resolution_ns(); }
  std::vector<StepTime> steps() const override;
  std::int32_t run_timed(std::span<std::int64_t> elapsed_ns) override;
  // Whether it can be kept for later calls with the same arguments and sizes, although buffers may be freed meanwhile.
  bool may_be_kept() const { return workspaces_.empty() && stream_->may_stay_open(); }
  Status failure() const override { return failure_.is_ok() ? stream_->failure() : failure_; }

 private:
  explicit PlanCall(Device& device) : device_(device) {}

  std::int32_t run_steps(std::uint64_t times, bool traced);
  // Waits for the steps and returns the first result that a GPU left.
  std::int32_t finish();

  Device& device_;
  std::vector<MemoryBlock> workspaces_;
  std::unique_ptr<Stream> stream_;
  BoundSteps bound_;
  Status failure_;
};

}  // namespace ferry::device
