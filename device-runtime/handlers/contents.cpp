#include "device-runtime/handlers/contents.h"

#include "base/hash_stream.h"
#include "module/element_difference.h"

namespace ferry::device {
namespace {

Result<const Buffer*> find_contents(SessionState& state, RequestContext& context, rpc::Handle handle,
                                    std::uint64_t offset, std::uint64_t bytes) {
  FERRY_ASSIGN(const Buffer* const buffer, state.buffers.find(context, handle));
  FERRY_TRY(buffer->check_range(handle, offset, bytes));
  FERRY_TRY(buffer->check_contents(context, handle, offset, bytes));
  return buffer;
}

}  // namespace

Result<rpc::DigestReply> handle_digest(SessionState& state, RequestContext& context, const rpc::Digest& request) {
  FERRY_ASSIGN(const Buffer* const buffer,
               find_contents(state, context, request.buffer, request.offset, request.bytes));
  HashStream hash;
  if (request.bytes != 0) {
    FERRY_TRY(buffer->device().read_pieces(buffer->memory(), request.offset, request.bytes,
                                           [&](std::span<const std::uint8_t> piece) {
                                             hash.add(piece);
                                             return Status();
                                           }));
  }
  return rpc::DigestReply{hash.finish()};
}

Result<rpc::CompareReply> handle_compare(SessionState& state, RequestContext& context, const rpc::Compare& request) {
  const std::size_t size = dtype_bytes(request.dtype);
  // A product that is too large is beyond every buffer.
  const std::uint64_t bytes = request.elements > UINT64_MAX / size ? UINT64_MAX : request.elements * size;
  FERRY_ASSIGN(const Buffer* const a, find_contents(state, context, request.a, request.a_offset, bytes));
  FERRY_ASSIGN(const Buffer* const b, find_contents(state, context, request.b, request.b_offset, bytes));
  rpc::CompareReply reply;
  if (bytes == 0) return reply;
  const std::uint8_t* const host = b->host_address();
  std::vector<std::uint8_t> staging;
  std::uint64_t done = 0;
  const auto compare = [&](std::span<const std::uint8_t> piece) {
    const std::uint8_t* other = host + request.b_offset + done;
    Status status;
    if (host == nullptr) {
      staging.resize(piece.size());
      status = b->device().read(b->memory(), request.b_offset + done, staging);
      other = staging.data();
    }
    for (std::size_t at = 0; at < piece.size(); at += size) {
      if (!elements_differ(request.dtype, piece.data() + at, other + at, request.rtol, request.atol)) continue;
      if (reply.different++ == 0) reply.first = (done + at) / size;
    }
    done += piece.size();
    return status;
  };
  FERRY_TRY(a->device().read_pieces(a->memory(), request.a_offset, bytes, compare));
  return reply;
}

}  // namespace ferry::device
