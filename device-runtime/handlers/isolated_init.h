// Runs an init plan in a process of its own (device-runtime/runner), so that a module which is measured has run nothing
// in the session's.
#pragma once

#include <optional>

#include "device-runtime/handlers/call_arguments.h"

namespace ferry::device {

// Writes the persistent buffers of `kept`, which later runners map read-only: nobody can change them once this process
// is gone. Returns nothing if that cannot be here, or the constants are too large to be copied.
std::optional<Result<rpc::CallReply>> run_isolated_init(SessionState& state, RequestContext& context,
                                                        const CheckedCall& call, const KeptMemory& kept);

}  // namespace ferry::device
