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

void mark_failed(SessionState& state, const RequestContext& context, const rpc::PutModule& request) {
  state.modules.fail(request.module, context.cause());
}

void mark_failed(SessionState& state, const RequestContext& context, const rpc::PutBlob& request) {
  state.blobs.fail(request.hash, context.cause());
}

void mark_failed(SessionState& state, const RequestContext& context, const rpc::Alloc& request) {
  state.buffers.fail(request.buffer, context.cause());
}

void mark_failed(SessionState& state, const RequestContext& context, const rpc::Write& request) {
  mark_buffer(state, request.buffer, request.offset, context.payload_bytes(), context.cause());
}

void mark_failed(SessionState& state, const RequestContext& context, const rpc::Fill& request) {
  const std::uint64_t element = dtype_bytes(request.dtype);
  const std::uint64_t bytes = request.elements > UINT64_MAX / element ? UINT64_MAX : request.elements * element;
  mark_buffer(state, request.buffer, 0, bytes, context.cause());
}

void mark_failed(SessionState& state, const RequestContext& context, const rpc::Copy& request) {
  mark_buffer(state, request.destination, request.destination_offset, request.bytes, context.cause());
}

void mark_failed(SessionState& state, const RequestContext& context, const rpc::Call& request) {
  mark_outputs_unwritten(state, request, context.cause());
}

void mark_failed(SessionState& state, const RequestContext& context, const rpc::Bind& request) {
  state.instances.fail(request.instance, context.cause());
}

void mark_failed(SessionState& state, const RequestContext& context, const rpc::Evaluate& request) {
  for (const rpc::Call& call : request.calls) mark_outputs_unwritten(state, call, context.cause());
}

void mark_failed(SessionState& state, const RequestContext& context, const rpc::TimeSteps& request) {
  mark_outputs_unwritten(state, request.call, context.cause());
}

}  // namespace ferry::device
