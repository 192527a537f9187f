// Requests that allocate, transfer and free tensor memory.
#pragma once

#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

Result<rpc::Empty> handle_alloc(SessionState& state, RequestContext& context, const rpc::Alloc& request);
// The message has the fields of alloc, of which the last is the unit.
Result<rpc::Empty> handle_alloc_shared(SessionState& state, RequestContext& context, const rpc::Alloc& request);
Result<rpc::Empty> handle_guard_memory(SessionState& state, RequestContext& context, const rpc::GuardMemory& request);
Result<rpc::Empty> handle_free(SessionState& state, RequestContext& context, const rpc::Free& request);
// The bytes are received directly into the buffer and sent directly from it.
Result<rpc::Empty> handle_write(SessionState& state, RequestContext& context, const rpc::Write& request);
Result<rpc::Empty> handle_read(SessionState& state, RequestContext& context, const rpc::Read& request);
Result<rpc::Empty> handle_fill(SessionState& state, RequestContext& context, const rpc::Fill& request);
Result<rpc::Empty> handle_copy(SessionState& state, RequestContext& context, const rpc::Copy& request);

}  // namespace ferry::device
