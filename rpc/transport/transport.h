// A reliable, ordered stream of bytes to one peer: TCP, a socket pair, or a queue inside the process. Frames are built
// on top of it in rpc/wire/connection.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rpc/base/status.h"

namespace ferry {

using ByteSpan = std::span<const std::uint8_t>;
using MutableByteSpan = std::span<std::uint8_t>;

// One thread may send while another receives; close() may be called from any thread. Errors are `unavailable` (the peer
// is gone) or `deadline_exceeded`; after either the transport is of no more use.
class Transport {
 public:
  virtual ~Transport() = default;

  // All pieces, in order, in as few writes as the system allows.
  virtual Status send(std::span<const ByteSpan> pieces) = 0;
  // Straight into place: at least at_least bytes, and more, up to into.size(), if they are there already. Says how
  // many. When the peer closed before the first of them, the message is kPeerClosed; when it closed later, the message
  // says how many had come.
  virtual Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) = 0;
  // Exactly into.size() bytes.
  Status receive(MutableByteSpan into) { return receive_some(into, into.size()).status(); }
  // A receive fails with deadline_exceeded when the bytes it needs have not come within this time. Zero: no limit (the
  // default).
  virtual void set_receive_timeout(std::chrono::milliseconds timeout) = 0;
  // Nothing more will be sent; the peer receives the end once it has read what is under way.
  virtual void close_send() = 0;
  // Ends both directions and wakes threads that are inside send() or receive().
  virtual void close() = 0;
  // Whether the next receive finds bytes that have left the socket already.
  virtual bool has_received_ahead() const { return false; }
  // The socket, for those who must watch it; -1 when there is none.
  virtual int native_handle() const = 0;
};

inline constexpr const char* kPeerClosed = "the peer closed the connection";

// What every implementation of receive_some() answers.
Status closed_by_peer(std::size_t received, std::size_t at_least);
Status receive_timed_out(std::chrono::milliseconds timeout);

}  // namespace ferry
