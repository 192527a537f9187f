// A reliable, ordered stream of bytes to one peer: TCP, a socket pair, or a queue inside the process.
// rpc/wire/connection.h builds frames on top of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace ferry {

using ByteSpan = std::span<const std::uint8_t>;
using MutableByteSpan = std::span<std::uint8_t>;

// One thread may send while another receives; close() may be called from any thread. Errors are `unavailable` (the peer
// is gone) and `deadline_exceeded`; after either the transport is unusable.
class Transport {
 public:
  virtual ~Transport() = default;

  // Sends all pieces, in order, in as few writes as the system allows.
  virtual Status send(std::span<const ByteSpan> pieces) = 0;
  // Receives directly into the destination: at least at_least bytes, and up to into.size() if more have already
  // arrived. Returns the number received. If the peer closed before the first byte, the message is kPeerClosed; if it
  // closed later, the message says how many bytes had arrived.
  virtual Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) = 0;
  // Receives exactly into.size() bytes.
  Status receive(MutableByteSpan into) { return receive_some(into, into.size()).status(); }
  // Makes a receive fail with deadline_exceeded if the bytes it needs do not arrive within this time. Zero, the
  // default, means no limit.
  virtual void set_receive_timeout(std::chrono::milliseconds timeout) = 0;
  // Declares that nothing more will be sent; the peer receives the end of the stream after the data in flight.
  virtual void close_send() = 0;
  // Closes both directions and wakes threads that are inside send() or receive().
  virtual void close() = 0;
  // Returns whether bytes that have already been read from the socket are buffered for the next receive.
  virtual bool has_buffered_input() const { return false; }
  // The socket, for callers that must poll it; -1 if there is none.
  virtual int native_handle() const = 0;
};

inline constexpr const char* kPeerClosed = "the peer closed the connection";

// The errors that every implementation of receive_some() returns.
Status closed_by_peer(std::size_t received, std::size_t at_least);
Status receive_timed_out(std::chrono::milliseconds timeout);

}  // namespace ferry
