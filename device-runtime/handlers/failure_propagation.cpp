#include "device-runtime/handlers/failure_propagation.h"

#include <cstdint>

#include "device-runtime/handlers/call_arguments.h"

namespace ferry::device {
namespace {

void mark_buffer(SessionState& state, rpc::Handle handle, std::uint64_t offset, std::uint64_t bytes,
                 std::uint64_t cause) {
  if (Buffer* buffer = state.buffers.find_quietly(handle)) buffer->mark_unwritten(offset, bytes, cause);
}

}  // namespace

void mark_failed(SessionState& state, const Exchange& exchange, const rpc::PutModule& request) {
  state.modules.fail(request.module, exchange.cause());
}

void mark_failed(SessionState& state, const Exchange& exchange, const rpc::Alloc& request) {
  state.buffers.fail(request.buffer, exchange.cause());
}

void mark_failed(SessionState& state, const Exchange& exchange, const rpc::Write& request) {
  mark_buffer(state, request.buffer, request.offset, exchange.payload_bytes(), exchange.cause());
}

void mark_failed(SessionState& state, const Exchange& exchange, const rpc::Fill& request) {
  const std::uint64_t element = dtype_bytes(request.dtype);
  const std::uint64_t bytes = request.elements > UINT64_MAX / element ? UINT64_MAX : request.elements * element;
  mark_buffer(state, request.buffer, 0, bytes, exchange.cause());
}

void mark_failed(SessionState& state, const Exchange& exchange, const rpc::Copy& request) {
  mark_buffer(state, request.destination, request.destination_offset, request.bytes, exchange.cause());
}

void mark_failed(SessionState& state, const Exchange& exchange, const rpc::Call& request) {
  mark_outputs_unwritten(state, request, exchange.cause());
}

void mark_failed(SessionState& state, const Exchange& exchange, const rpc::Measure& request) {
  mark_outputs_unwritten(state, request.call, exchange.cause());
}

void mark_failed(SessionState& state, const Exchange& exchange, const rpc::Evaluate& request) {
  for (const rpc::Call& call : request.calls) mark_outputs_unwritten(state, call, exchange.cause());
}

void mark_failed(SessionState& state, const Exchange& exchange, const rpc::TimeSteps& request) {
  mark_outputs_unwritten(state, request.call, exchange.cause());
}

}  // namespace ferry::device
