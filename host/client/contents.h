// Asks a server about the contents of tensors without transferring them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ferry/client.h"
#include "rpc/messages.h"

namespace ferry::session {

// Returns the hash of the tensor's bytes, those between strided elements included; nothing if the server is too old.
std::optional<Hash> digest_of(const DeviceTensor& tensor);

struct ContentDifference {
  std::uint64_t different = 0;  // elements
  std::uint64_t first = 0;      // the first of them
};

// Returns what ask() returns; nothing if the server is too old to know the request.
template <class Ask>
auto if_supported(Ask ask) -> std::optional<decltype(ask())> {
  try {
    return ask();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return std::nullopt;
  }
}

// Asks whether elements of `a` from a place in bytes on are those of `b`.
rpc::Compare compare_request(const detail::TensorState& a, std::uint64_t a_offset, const detail::TensorState& b,
                             std::uint64_t elements, double rtol, double atol);

// Checks a server's answer about so many elements. Throws Error with protocol_error.
ContentDifference difference_of(const rpc::CompareReply& reply, std::uint64_t elements);

// Compares the elements of two dense tensors of a session, which have as many and the same type, as elements_differ()
// does (module/element_difference.h). Nothing if the server is too old.
std::optional<ContentDifference> compare_tensors(const DeviceTensor& a, const DeviceTensor& b, double rtol,
                                                 double atol);
// Sends these elements to the device and compares them with those of a dense tensor from element `first` on.
std::optional<ContentDifference> compare_with(const DeviceTensor& tensor, std::uint64_t first,
                                              std::span<const std::uint8_t> elements, double rtol, double atol);
// Reads one element of a dense tensor.
std::vector<std::uint8_t> read_element(const DeviceTensor& tensor, std::uint64_t element);

}  // namespace ferry::session
