// Finds the function and the instance that a request names.
#pragma once

#include "device-runtime/handlers/call_arguments.h"

namespace ferry::device {

Result<CheckedCall> find_call(SessionState& state, RequestContext& context, rpc::Handle module,
                              const std::string& function);

// Sets the instance of a call whose arguments have been checked. It must be of the call's function and have been bound
// with the same constants, for which its persistent buffers have the sizes and the contents.
Status find_instance(SessionState& state, RequestContext& context, const rpc::Call& request, CheckedCall& call);

}  // namespace ferry::device
