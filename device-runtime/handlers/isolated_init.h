// Runs an init plan in a process of its own (device-runtime/runner), so that a module which is measured has run nothing
// in the session's.
#pragma once

#include <optional>
#include <span>

#include "device-runtime/handlers/call_arguments.h"

namespace ferry::device {

// Writes the persistent buffers, which later runners map read-only: nobody can change them once this process is gone.
// Returns nothing if that cannot be here. The constants are copied for each step that reads them.
std::optional<Result<rpc::CallReply>> run_isolated_init(SessionState& state, RequestContext& context,
                                                        const CheckedCall& call,
                                                        std::span<const MemoryBlock> persistent,
                                                        const ConstantMemory& constants);

}  // namespace ferry::device
