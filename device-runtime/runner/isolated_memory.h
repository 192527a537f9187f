// The memory of calls that run in processes of their own, which these share with the session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device-runtime/device/memory_budget.h"
#include "device-runtime/device/shared_memory.h"
#include "device-runtime/plan/bind_plan.h"
#include "device-runtime/plan/plan_call.h"
#include "device-runtime/runner/isolation.h"
#include "device-runtime/runner/task.h"

namespace ferry::device {

// The constants that the steps of an init plan read are in one part in turn, so that memory does not hold them all once
// more.
struct StepConstants {
  std::vector<std::uint64_t> offsets;  // where each constant is in the part, at the start of a page
  std::uint64_t bytes = 0;             // the part's
};

// Another call of the same function, with tensors of other sizes.
struct OtherCall {
  BoundCall bound;
  std::vector<DeviceArgument> arguments;
};

// A call on the CPU as the session would make it. What it refers to must outlive the isolated call.
struct CallToIsolate {
  const Hash& module;
  std::span<const std::uint8_t> file;  // the module's
  const FunctionInfo& function;
  std::size_t number = 0;  // the function's index in the module
  const BoundCall& bound;
  std::span<const DeviceArgument> arguments;
  KeptMemory kept;
  // Not null: the steps of the function's init plan, which writes the persistent buffers.
  const StepConstants* init = nullptr;
  std::span<const OtherCall> others = {};
};

// The memory of the calls of one measurement. It belongs to the session's budget.
class IsolatedMemory {
 public:
  // The parts that the process of a call maps. The operands are the arguments of each set, one set after the other,
  // those of each call of other sizes, then the persistent buffers, then the constants.
  struct Call {
    SharedPart file, lists, page, step_constants;
    std::vector<SharedOperand> operands;
    std::size_t sets = 1, others = 0, arguments = 0, persistent = 0, constants = 0;

    std::size_t all_arguments() const { return (sets + others) * arguments; }
  };

  IsolatedMemory(const Isolation& isolation, MemoryBudget& budget) : memory_(*isolation.memory), budget_(budget) {}
  IsolatedMemory(const IsolatedMemory&) = delete;
  IsolatedMemory& operator=(const IsolatedMemory&) = delete;
  // Gives the memory back to the system.
  ~IsolatedMemory();

  // Whether tensors that are in shared memory already are used where they are, as persistent buffers always are.
  enum class Tensors : std::uint8_t { copied, in_place };

  // Reserves memory for a call with so many sets of its arguments, one of which may be in place, and returns its
  // number. All calls are added before map(). Fails with resource_exhausted.
  Result<std::size_t> add(const CallToIsolate& call, std::size_t sets, Tensors tensors = Tensors::copied);
  // Reserves memory for the same call in another process, which reads what the first one reads and has its own for what
  // both write.
  Result<std::size_t> add_twin(std::size_t of, const CallToIsolate& call);
  // Fails with resource_exhausted.
  Status map();

  // Whether the system had no huge pages for a large part.
  bool has_small_pages() const { return has_small_pages_; }
  const Call& call(std::size_t number) const { return calls_[number].shared; }
  const SharedMapping& mapping() const { return mapping_; }
  // The end of the last part.
  std::uint64_t end() const { return end_; }
  // Where the arguments of a call are, those of other sizes behind its sets; scalars are as they were.
  std::vector<DeviceArgument> arguments(std::size_t call, std::size_t set) const;
  // Where its persistent buffers are.
  std::vector<MemoryBlock> persistent(std::size_t call) const;
  // Copies the contents of the call's tensors to each of its sets, those of a twin as far as they are its own.
  void copy_in(std::size_t call, const CallToIsolate& from);
  // Copies a constant for the next step of an init plan that reads it.
  void copy_constant(std::size_t call, const CallToIsolate& from, std::size_t constant);
  // Copies what the first set has of the tensors that the call writes.
  void copy_out(std::size_t call, const CallToIsolate& to) const;
  // Copies the persistent buffers that are not in shared memory themselves.
  void copy_persistent_out(std::size_t call, const CallToIsolate& to) const;

 private:
  struct Entry {
    Call shared;
    bool is_twin = false;
    std::vector<SharedPart> parts;  // those that no other call has
    std::vector<void*> in_place;    // for each operand, where it is if it was in shared memory; empty for a twin
  };

  Result<SharedPart> own_part(Entry& entry, std::uint64_t bytes, std::uint64_t lead = 0);
  Result<SharedOperand> own_operand(Entry& entry, const void* memory, std::uint64_t bytes, bool is_written);
  // Uses the memory where it is if it can be shared, otherwise as own_operand().
  Result<SharedOperand> operand_in_place(Entry& entry, void* memory, std::uint64_t bytes, bool is_written);
  SharedOperand step_constant(Entry& entry, const CallToIsolate& call, std::size_t constant);
  Status add_arguments(Entry& entry, const FunctionInfo& function, std::span<const DeviceArgument> arguments,
                       const BoundCall& bound, Tensors tensors);
  void* place_of(const Entry& entry, std::size_t operand) const;
  Status add_lists(Entry& entry, const CallToIsolate& call);

  SharedMemory& memory_;
  MemoryBudget& budget_;
  SharedMapping mapping_;
  std::uint64_t end_ = 0;
  std::vector<Entry> calls_;
  std::uint64_t charged_ = 0;
  bool has_small_pages_ = false;
};

}  // namespace ferry::device
