#include "device-runtime/handlers/memory.h"

#include "base/format.h"
#include "device-runtime/device/host_memory.h"

namespace ferry::device {
namespace {

// Data beyond this size is sent while the rest is still fetched from the device. If the device then fails, closing the
// connection is the only possible answer, so smaller amounts are fetched completely first.
constexpr std::uint64_t kMaxFetchedFirst = 4 << 20;

}  // namespace

Result<rpc::Empty> handle_alloc(SessionState& state, RequestContext&, const rpc::Alloc& request) {
  FERRY_TRY(state.buffers.check_new(request.buffer));
  if (request.device >= state.devices.size()) {
    return Status(ErrorCode::not_found,
                  format("expected a device below %zu, got %u", state.devices.size(), request.device));
  }
  FERRY_ASSIGN(auto buffer, Buffer::allocate(*state.devices[request.device], request.bytes));
  state.buffers.define(request.buffer, std::move(buffer));
  return rpc::Empty{};
}

Result<rpc::Empty> handle_alloc_shared(SessionState& state, RequestContext&, const rpc::Alloc& request) {
  FERRY_TRY(state.buffers.check_new(request.buffer));
  const SharedPart part{request.device * rpc::kSharedUnit, request.bytes};
  const SharedMemory* const shared = state.access.isolation.memory.get();
  if (shared == nullptr || !shared->is_clients(part))
    return Status(ErrorCode::unsupported, "there is no such part of shared memory");
  FERRY_TRY(state.budget.take(request.bytes));
  void* const memory = map_host_memory(shared->object(), part.offset, part.bytes);
  if (memory == nullptr) {
    state.budget.give_back(request.bytes);
    return Status(ErrorCode::resource_exhausted, "the part of shared memory cannot be mapped");
  }
  state.buffers.define(request.buffer, Buffer::own(*state.devices.front(), memory, request.bytes));
  return rpc::Empty{};
}

Result<rpc::Empty> handle_guard_memory(SessionState& state, RequestContext&, const rpc::GuardMemory&) {
  if (state.budget.used() != 0) {
    return Status(ErrorCode::invalid_argument, "guard_memory: expected it before buffers and modules");
  }
  state.devices.front()->guard_memory();
  state.guards_memory = true;
  return rpc::Empty{};
}

Result<rpc::Empty> handle_free(SessionState& state, RequestContext&, const rpc::Free& request) {
  if (!state.instances.remove(request.handle).is_ok()) FERRY_TRY(state.buffers.remove(request.handle));
  return rpc::Empty{};
}

Result<rpc::Empty> handle_write(SessionState& state, RequestContext& context, const rpc::Write& request) {
  const std::uint64_t bytes = context.payload_bytes();
  FERRY_ASSIGN(Buffer * buffer, state.buffers.find(context, request.buffer));
  FERRY_TRY(buffer->check_range(request.buffer, request.offset, bytes));
  if (bytes != 0) {
    FERRY_TRY(
        buffer->device().write_pieces(buffer->memory(), request.offset, bytes,
                                      [&](std::span<std::uint8_t> piece) { return context.receive_payload(piece); }));
  }
  buffer->mark_written(request.offset, bytes);
  return rpc::Empty{};
}

Result<rpc::Empty> handle_read(SessionState& state, RequestContext& context, const rpc::Read& request) {
  FERRY_ASSIGN(const Buffer* buffer, state.buffers.find(context, request.buffer));
  FERRY_TRY(buffer->check_range(request.buffer, request.offset, request.bytes));
  FERRY_TRY(buffer->check_contents(context, request.buffer, request.offset, request.bytes));
  if (request.bytes == 0) return rpc::Empty{};
  const auto bytes = static_cast<std::size_t>(request.bytes);
  if (const std::uint8_t* host = buffer->host_address(); host != nullptr) {
    context.set_reply_payload({host + request.offset, bytes});
    return rpc::Empty{};
  }
  if (request.bytes > kMaxFetchedFirst) {
    context.set_reply_pieces(request.bytes, [buffer, request](const Device::TakePiece& take) {
      return buffer->device().read_pieces(buffer->memory(), request.offset, request.bytes, take);
    });
    return rpc::Empty{};
  }
  std::vector<std::uint8_t> contents(bytes);
  FERRY_TRY(buffer->device().read(buffer->memory(), request.offset, contents));
  context.give_reply_payload(std::move(contents));
  return rpc::Empty{};
}

Result<rpc::Empty> handle_fill(SessionState& state, RequestContext& context, const rpc::Fill& request) {
  FERRY_ASSIGN(Buffer * buffer, state.buffers.find(context, request.buffer));
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

Result<rpc::Empty> handle_copy(SessionState& state, RequestContext& context, const rpc::Copy& request) {
  FERRY_ASSIGN(Buffer * destination, state.buffers.find(context, request.destination));
  FERRY_ASSIGN(const Buffer* source, state.buffers.find(context, request.source));
  FERRY_TRY(destination->check_range(request.destination, request.destination_offset, request.bytes));
  FERRY_TRY(source->check_range(request.source, request.source_offset, request.bytes));
  FERRY_TRY(source->check_contents(context, request.source, request.source_offset, request.bytes));
  if (&source->device() == &destination->device()) {
    FERRY_TRY(destination->device().copy(destination->memory(), request.destination_offset, source->memory(),
                                         request.source_offset, request.bytes));
  } else {
    FERRY_TRY(copy_between(destination->device(), destination->memory(), request.destination_offset, source->device(),
                           source->memory(), request.source_offset, request.bytes));
  }
  destination->mark_written(request.destination_offset, request.bytes);
  return rpc::Empty{};
}

}  // namespace ferry::device
