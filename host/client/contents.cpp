#include "host/client/contents.h"

#include "host/client/state.h"

namespace ferry::session {

namespace {

using detail::Access;
using detail::TensorState;

// Nothing if the server does not know the request.
template <class Request>
auto ask(const TensorState& tensor, const Request& request) {
  return if_supported([&] { return tensor.device->client->call(request); });
}

std::optional<ContentDifference> compare(const TensorState& a, std::uint64_t a_offset, const TensorState& b,
                                         std::uint64_t elements, double rtol, double atol) {
  const auto reply = ask(a, compare_request(a, a_offset, b, elements, rtol, atol));
  return reply ? std::optional(difference_of(*reply, elements)) : std::nullopt;
}

}  // namespace

rpc::Compare compare_request(const TensorState& a, std::uint64_t a_offset, const TensorState& b, std::uint64_t elements,
                             double rtol, double atol) {
  return {a.handle, a.offset + a_offset, b.handle, b.offset, a.dtype, elements, rtol, atol};
}

ContentDifference difference_of(const rpc::CompareReply& reply, std::uint64_t elements) {
  if (reply.different > elements || (reply.different > 0 && reply.first >= elements))
    throw Error(ErrorCode::protocol_error, "compare: expected a difference among " + std::to_string(elements) +
                                               " elements, got " + std::to_string(reply.different) + " from element " +
                                               std::to_string(reply.first) + " on");
  return {reply.different, reply.first};
}

std::optional<Hash> digest_of(const DeviceTensor& tensor) {
  const TensorState& state = Access::state(tensor);
  const auto reply = ask(state, rpc::Digest{state.handle, state.offset, state.span});
  if (!reply) return std::nullopt;
  return reply->hash;
}

std::optional<ContentDifference> compare_tensors(const DeviceTensor& a, const DeviceTensor& b, double rtol,
                                                 double atol) {
  return compare(Access::state(a), 0, Access::state(b), a.elements(), rtol, atol);
}

std::optional<ContentDifference> compare_with(const DeviceTensor& tensor, std::uint64_t first,
                                              std::span<const std::uint8_t> elements, double rtol, double atol) {
  const TensorState& state = Access::state(tensor);
  const std::size_t size = dtype_bytes(state.dtype);
  const std::size_t count = elements.size() / size;
  const TensorState expected(state.device, state.dtype, {static_cast<std::int64_t>(count)});
  detail::write_span(expected, elements.data());
  return compare(state, first * size, expected, count, rtol, atol);
}

std::vector<std::uint8_t> read_element(const DeviceTensor& tensor, std::uint64_t element) {
  const TensorState& state = Access::state(tensor);
  std::vector<std::uint8_t> bytes(dtype_bytes(state.dtype));
  const rpc::Read read{state.handle, state.offset + element * bytes.size(), bytes.size()};
  state.device->client->send(read, {}, bytes).get();
  return bytes;
}

}  // namespace ferry::session
