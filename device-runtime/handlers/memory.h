// Requests that allocate, transfer and free tensor memory.
#pragma once

#include "device-runtime/handlers/session_state.h"

namespace ferry::device {

Result<rpc::Empty> handle_alloc(SessionState& state, Exchange& exchange, const rpc::Alloc& request);
Result<rpc::Empty> handle_guard_memory(SessionState& state, Exchange& exchange, const rpc::GuardMemory& request);
Result<rpc::Empty> handle_free(SessionState& state, Exchange& exchange, const rpc::Free& request);
// The bytes are received directly into the buffer and sent directly from it.
Result<rpc::Empty> handle_write(SessionState& state, Exchange& exchange, const rpc::Write& request);
Result<rpc::Empty> handle_read(SessionState& state, Exchange& exchange, const rpc::Read& request);
Result<rpc::Empty> handle_fill(SessionState& state, Exchange& exchange, const rpc::Fill& request);
Result<rpc::Empty> handle_copy(SessionState& state, Exchange& exchange, const rpc::Copy& request);

}  // namespace ferry::device
