// Converts the arguments of a request into those of a kernel: looks them up and checks them against the manifest and
// against each other.
#pragma once

#include <vector>

#include "device-runtime/plan/plan_call.h"
#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

struct CheckedCall {
  Module* module = nullptr;
  std::size_t function = 0;      // index in the module's manifest
  Instance* instance = nullptr;  // null: none
  BoundCall bound;
  std::vector<DeviceArgument> arguments;

  // The persistent buffers and constants that its steps read.
  KeptMemory kept() const;
  const FunctionInfo& info() const { return module->manifest.functions[function]; }
};

// Checks dtypes, shapes and preconditions against the manifest. In addition, every view must lie within its buffer,
// must not depend on a failed request if it is read, and may overlap another view only if the kernel writes neither.
// `arguments` has one entry per parameter, of which those that are not given are empty.
Status check_arguments(SessionState& state, RequestContext& context, std::span<const rpc::Argument> arguments,
                       GivenArguments given, CheckedCall& call);

// Finds the function and checks all arguments. An instance must be of this function and have been bound with the same
// constants.
Result<CheckedCall> check_call(SessionState& state, RequestContext& context, const rpc::Call& request);

// Binds the function's plan; the checked call must outlive the result.
Result<std::unique_ptr<PlanCall>> prepare_call(const CheckedCall& call);

// Returns invalid_argument if the kernel, which has run, wrote outside of its tensors. Only guarded memory detects
// this.
Status check_damage(const CheckedCall& call);

// Marks the outputs of a successful call as written.
void mark_outputs_written(SessionState& state, const rpc::Call& request, const CheckedCall& call);

// Marks the outputs that a failed call should have written as unwritten because of the request `cause`. Handles every
// part of the request that is valid.
void mark_outputs_unwritten(SessionState& state, const rpc::Call& request, std::uint64_t cause);

}  // namespace ferry::device
