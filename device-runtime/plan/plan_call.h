// One call of a plan, with its workspaces: it binds the plan once and runs its steps in order, on whatever devices.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device-runtime/measure/measure.h"
#include "device-runtime/plan/constant_memory.h"

namespace ferry::device {

// Memory that is there before a call and remains after it.
struct KeptMemory {
  std::span<const MemoryBlock> persistent = {};  // the buffers of an instance of the function
  std::span<const MemoryBlock> constants = {};   // the module's
};

class PlanCall final : public Workload {
 public:
  // Prepares a call that can be run repeatedly. Workspaces are allocated here, before any timing starts, and released
  // with the call. `devices` are the module's, in the order of its manifest. All references must outlive it.
  static Result<std::unique_ptr<PlanCall>> prepare(std::span<Device* const> devices, Program& program,
                                                   const FunctionInfo& function,
                                                   std::span<const DeviceArgument> arguments, const BoundCall& bound,
                                                   const KeptMemory& kept = {});
  // Prepares a run of the function's init plan, which writes the persistent buffers. `arguments` and `bound` have one
  // entry for each parameter, of which those for constants are used. The pages of `read_once` are dropped after each
  // step that reads them, so that memory does not hold the constants and what is made from them both in full.
  static Result<std::unique_ptr<PlanCall>> prepare_init(std::span<Device* const> devices, Program& program,
                                                        const FunctionInfo& function,
                                                        std::span<const DeviceArgument> arguments,
                                                        const BoundCall& bound, const KeptMemory& kept,
                                                        const ConstantMemory* read_once = nullptr);
  PlanCall(const PlanCall&) = delete;
  PlanCall& operator=(const PlanCall&) = delete;

  // Replaces an operand of a step (Stream::set); requires that has_all_steps().
  std::int32_t set(std::size_t step, std::size_t operand, std::uint64_t to) { return stream_->set(step, operand, to); }
  // Whether the stream has as many steps as the plan, and no operand changes while they run.
  bool has_all_steps(const Plan& plan) const {
    return bound_.repeats.empty() && bound_.first_messages.size() == plan.steps.size();
  }

  std::int32_t run() override;
  std::int32_t sample(std::uint64_t calls, std::int64_t& elapsed_ns) override;
  // The same without a time, and without restoring the float mode (float_mode.h).
  std::int32_t run_calls(std::uint64_t calls);
  // Runs one step likewise; requires that has_all_steps().
  std::int32_t run_alone(std::size_t step);
  std::int64_t clock_resolution_ns() const override { return stream_->clock_resolution_ns(); }
  std::vector<StepTime> steps() const override;
  std::int32_t run_timed(std::span<std::int64_t> elapsed_ns) override;
  // Whether it can be kept for later calls with the same arguments and sizes, although buffers may be freed meanwhile.
  bool may_be_kept() const { return stream_->may_stay_open(); }
  Status failure() const override { return failure_.is_ok() ? stream_->failure() : failure_; }

 private:
  explicit PlanCall(std::span<Device* const> devices) : devices_(devices), workspaces_(devices) {}

  static Result<std::unique_ptr<PlanCall>> make(std::span<Device* const> devices, Program& program,
                                                const FunctionInfo& function, const Plan& plan,
                                                std::span<const std::int64_t> symbols, PlanMemory memory);
  // How a plan with repeats runs: whether a crash can be attributed to its step, and where the times of its steps are
  // added up, if anywhere.
  struct RepeatRun {
    bool traced = false;
    std::span<std::int64_t> elapsed_ns = {};
  };
  // Positions in the lists of bound_.
  struct Next {
    std::size_t repeat = 0, operand = 0;
  };

  std::int32_t run_steps(std::uint64_t times, bool traced);
  std::int32_t run_between(std::size_t step, std::size_t end, Next next, const RepeatRun& how);
  std::int32_t run_repeat(const BoundRepeat& repeat, const RepeatRun& how);
  // Reads the condition of a repeat behind the steps before.
  std::int32_t read_condition(const MemoryBlock& condition, bool& holds);
  std::int32_t run_step(std::size_t step, const RepeatRun& how);
  // Turns the result with which a step ended the plan into one of the function.
  std::int32_t ended(std::int32_t result, std::size_t step);
  std::int32_t run_init();
  // Waits for the steps and returns the first result of these that a GPU left.
  std::int32_t finish(std::size_t first, std::size_t last);
  std::int32_t finish() { return finish(0, bound_.results.size()); }

  std::span<Device* const> devices_;
  MemoryBlocks workspaces_;
  std::unique_ptr<Stream> stream_;
  BoundSteps bound_;
  Status failure_;
  const Plan* init_ = nullptr;  // with constants that are read once
  const ConstantMemory* read_once_ = nullptr;
};

}  // namespace ferry::device
