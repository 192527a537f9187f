// From the arguments of a request to those of a kernel: looked up, checked against the manifest and against each other.
#pragma once

#include <vector>

#include "device-runtime/handlers/session_state.h"

namespace ferry::device {

struct CheckedCall {
  Module* module = nullptr;
  std::size_t function = 0;  // in the module's manifest
  BoundCall bound;
  std::vector<DeviceArgument> arguments;

  const FunctionInfo& info() const { return module->manifest.functions[function]; }
};

// The manifest decides about dtypes, shapes and preconditions; then every view must lie in its buffer, depend on no
// failed request where it is read, and overlap another only if the kernel writes neither.
Result<CheckedCall> check_call(SessionState& state, Exchange& exchange, const rpc::Call& request);

// invalid_argument when the kernel, which has run, wrote outside of its tensors. Only guarded memory tells.
Status check_damage(const CheckedCall& call);

// Marks what a call that went well has written as good.
void mark_outputs_written(SessionState& state, const rpc::Call& request, const CheckedCall& call);

// Marks what a failed call should have written, because of the request `cause`. Works on whatever of the call makes
// sense.
void mark_outputs_unwritten(SessionState& state, const rpc::Call& request, std::uint64_t cause);

}  // namespace ferry::device
