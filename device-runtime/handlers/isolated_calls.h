// The calls of a measurement in processes of their own (device-runtime/runner), as far as the device can do that.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device-runtime/handlers/call_arguments.h"
#include "device-runtime/measure/pinning.h"
#include "device-runtime/runner/isolated_call.h"

namespace ferry::device {

class IsolatedCalls {
 public:
  explicit IsolatedCalls(SessionState& state) : state_(state), memory_(state.access.isolation, state.budget) {}

  // Moves the arguments of all calls to memory of their own and starts a process for each. Returns why that cannot be,
  // as words for a person; then the calls are as they were. The calls must outlive this.
  std::string start(std::span<CheckedCall* const> calls, std::uint32_t threads);
  bool exist() const { return !workloads_.empty(); }
  // In the order of the calls.
  IsolatedCall& workload(std::size_t call) { return *workloads_[call]; }
  std::vector<MemoryBlock> persistent(std::size_t call) const { return memory_.persistent(call); }
  // Copies what the calls have written to the tensors that the client named.
  void copy_out() const;
  // If the process of a call has ended, ends this one in the same way, after it has recorded how on the activity page.
  void end_like_runner(Activity& activity) const;
  // Returns why the times cannot be believed; otherwise ok.
  Status check_processor_time() const;
  std::string take_printed();

 private:
  Status try_start(std::span<CheckedCall* const> calls, std::uint32_t threads);
  CallToIsolate described(std::size_t call) const;

  SessionState& state_;
  std::vector<CheckedCall*> calls_;
  std::vector<std::vector<DeviceArgument>> named_;  // the arguments of each call as the client named them
  IsolatedMemory memory_;
  std::vector<std::unique_ptr<IsolatedCall>> workloads_;
  Pinning pinning_{state_.access.files.threads.number()};
};

}  // namespace ferry::device
