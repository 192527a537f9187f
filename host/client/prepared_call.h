// Calls whose arguments have been checked and are on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/client/bind.h"
#include "host/client/instances.h"
#include "host/client/state.h"

namespace ferry::detail {

struct PreparedCall {
  rpc::Call wire;
  std::vector<DeviceTensor> tensors;        // one for each parameter; empty for scalars
  std::shared_ptr<InstanceState> instance;  // null: the function needs none
};

// How long memory of this process that is passed to a call stays as it is.
enum class Lifetime : std::uint8_t { of_call, unknown };

// Returns one argument for each parameter, in order; null for an output to be allocated.
std::vector<const Argument*> match_parameters(const FunctionInfo& info, const std::vector<Argument>& arguments);
// Infers the sizes of a call from its matched arguments.
session::CallSizes find_sizes(const FunctionInfo& info, const std::vector<const Argument*>& matched);

// Uploads arguments, allocates outputs and binds an instance, and waits for none of it but the answer whether the
// server has the module. Counts as a write to what the call writes.
PreparedCall prepare(ModuleState& module, std::size_t function, const std::vector<Argument>& arguments,
                     Lifetime lifetime = Lifetime::of_call);

// To be called after a request that ran these calls of the module has failed: notes instances that were not bound, and
// throws the error with other possible causes of it, if there are any.
void explain_failure(const ModuleState& module, std::span<const PreparedCall> calls, const Error& error);

}  // namespace ferry::detail
