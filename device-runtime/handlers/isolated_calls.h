// The calls of a measurement in processes of their own (device-runtime/runner), as far as the device can do that.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device-runtime/handlers/call_arguments.h"
#include "device-runtime/measure/pinning.h"
#include "device-runtime/runner/isolated_call.h"

namespace ferry::device {

// Returns why no process of its own can run the module, as words for a person; empty if one can.
const char* why_not_isolated(const SessionState& state, const Module& module);

// How many sets of its arguments each call gets, and whether a second process runs it too.
enum class ArgumentSets : std::uint8_t {
  one,              // the tensors of the client themselves, as far as runners can share them
  one_with_twin,    // for samples of one call in cold caches
  many_with_twins,  // as many as fit half of a core's second cache, for all calls together
};

class IsolatedCalls {
 public:
  explicit IsolatedCalls(SessionState& state) : state_(state) {}

  // A call, and others of its function with other sizes, which its process can make if it has a twin.
  struct Call {
    CheckedCall* call = nullptr;
    std::span<const OtherCall> others = {};
  };
  // Moves the arguments of all calls to memory of their own and starts a process for each. Returns why that cannot be,
  // as words for a person; then the calls are as they were. What the calls refer to must outlive this. If there is no
  // memory for twins, there are none.
  std::string start(std::vector<Call> calls, const RunnerOptions& options, ArgumentSets sets);
  bool exist() const { return !workloads_.empty(); }
  bool have_twins() const { return !twins_.empty(); }
  bool have_small_pages() const { return memory_->has_small_pages(); }
  // All are numbered in the order of the calls.
  IsolatedCall& workload(std::size_t call) { return *workloads_[call].call; }
  IsolatedCall& twin(std::size_t call) { return *twins_[call].call; }
  std::size_t sets(std::size_t call) const { return memory_->call(workloads_[call].number).sets; }
  // Where the arguments of a set are, and where those are that the twin writes. Those of other sizes are behind the
  // sets.
  std::vector<DeviceArgument> arguments(std::size_t call, std::size_t set) const;
  std::vector<DeviceArgument> twin_arguments(std::size_t call, std::size_t set) const;
  // The arguments as the client named them.
  const std::vector<DeviceArgument>& named(std::size_t call) const { return named_[call]; }
  std::vector<MemoryBlock> persistent(std::size_t call) const { return memory_->persistent(workloads_[call].number); }
  // Copies what the calls have written to the tensors that the client named, from the first set of each.
  void copy_out() const;
  // If the process of a call has ended, ends this one in the same way, after it has recorded how on the activity page.
  void end_like_runner(Activity& activity) const;
  // Returns why the times cannot be believed; otherwise ok.
  Status check_processor_time() const;
  std::string take_printed();

 private:
  struct Started {
    std::size_t number = 0;  // the call's in the memory
    std::unique_ptr<IsolatedCall> call;
  };

  Status try_start(const RunnerOptions& options, ArgumentSets sets);
  Result<Started> start_process(const CallToIsolate& call, std::size_t number, const RunnerOptions& options,
                                std::uint64_t memory_bytes);
  std::size_t sets_of(std::size_t call, ArgumentSets sets) const;
  template <class Visitor>
  void for_each_process(const Visitor& visit) const;
  CallToIsolate described(std::size_t call, bool has_twin) const;

  SessionState& state_;
  std::vector<Call> calls_;
  std::vector<std::vector<DeviceArgument>> named_;
  std::optional<IsolatedMemory> memory_;
  std::vector<Started> workloads_, twins_;
  Pinning pinning_{state_.access.files.threads.number()};
};

}  // namespace ferry::device
