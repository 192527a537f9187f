#include "device-runtime/handlers/memory.h"

#include "rpc/base/format.h"

namespace ferry::device {

Result<rpc::Empty> handle_alloc(SessionState& state, Exchange&, const rpc::Alloc& request) {
  FERRY_TRY(state.buffers.check_new(request.buffer));
  if (request.device >= state.devices.size()) {
    return Status(ErrorCode::not_found,
                  format("expected a device below %zu, got %u", state.devices.size(), request.device));
  }
  FERRY_ASSIGN(auto buffer, Buffer::allocate(*state.devices[request.device], request.bytes));
  state.buffers.define(request.buffer, std::move(buffer));
  return rpc::Empty{};
}

Result<rpc::Empty> handle_free(SessionState& state, Exchange&, const rpc::Free& request) {
  FERRY_TRY(state.buffers.remove(request.buffer));
  return rpc::Empty{};
}

Result<rpc::Empty> handle_write(SessionState& state, Exchange& exchange, const rpc::Write& request) {
  const std::uint64_t bytes = exchange.payload_bytes();
  FERRY_ASSIGN(Buffer * buffer, state.buffers.find(exchange, request.buffer));
  FERRY_TRY(buffer->check_range(request.buffer, request.offset, bytes));
  if (bytes != 0) {
    FERRY_TRY(exchange.receive_payload({buffer->host_address() + request.offset, static_cast<std::size_t>(bytes)}));
  }
  buffer->mark_written(request.offset, bytes);
  return rpc::Empty{};
}

Result<rpc::Empty> handle_read(SessionState& state, Exchange& exchange, const rpc::Read& request) {
  FERRY_ASSIGN(const Buffer* buffer, state.buffers.find(exchange, request.buffer));
  FERRY_TRY(buffer->check_range(request.buffer, request.offset, request.bytes));
  FERRY_TRY(buffer->check_contents(exchange, request.buffer, request.offset, request.bytes));
  if (request.bytes != 0) {
    exchange.set_reply_payload({buffer->host_address() + request.offset, static_cast<std::size_t>(request.bytes)});
  }
  return rpc::Empty{};
}

Result<rpc::Empty> handle_fill(SessionState& state, Exchange& exchange, const rpc::Fill& request) {
  FERRY_ASSIGN(Buffer * buffer, state.buffers.find(exchange, request.buffer));
  const std::uint64_t element = dtype_bytes(request.dtype);
  if (request.elements > buffer->bytes() / element) {
    return Status(ErrorCode::invalid_argument,
                  format("buffer %llu: expected at most %llu elements of %s, got %llu",
                         static_cast<unsigned long long>(request.buffer),
                         static_cast<unsigned long long>(buffer->bytes() / element), dtype_name(request.dtype),
                         static_cast<unsigned long long>(request.elements)));
  }
  FERRY_TRY(buffer->device().fill(buffer->memory(), request.kind, request.seed, request.dtype, request.elements));
  buffer->mark_written(0, request.elements * element);
  return rpc::Empty{};
}

Result<rpc::Empty> handle_copy(SessionState& state, Exchange& exchange, const rpc::Copy& request) {
  FERRY_ASSIGN(Buffer * destination, state.buffers.find(exchange, request.destination));
  FERRY_ASSIGN(const Buffer* source, state.buffers.find(exchange, request.source));
  FERRY_TRY(destination->check_range(request.destination, request.destination_offset, request.bytes));
  FERRY_TRY(source->check_range(request.source, request.source_offset, request.bytes));
  FERRY_TRY(source->check_contents(exchange, request.source, request.source_offset, request.bytes));
  if (&source->device() != &destination->device()) {
    return Status(ErrorCode::unsupported, "expected two buffers of one device");
  }
  FERRY_TRY(destination->device().copy(destination->memory(), request.destination_offset, source->memory(),
                                       request.source_offset, request.bytes));
  destination->mark_written(request.destination_offset, request.bytes);
  return rpc::Empty{};
}

}  // namespace ferry::device
