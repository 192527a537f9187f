// Frames over a transport. Bodies are small and pass through a buffer of the connection. Payloads are sent from their
// source and received into their destination, except for the bytes that arrived together with the header.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rpc/transport/transport.h"
#include "rpc/wire/codec.h"
#include "rpc/wire/frame.h"

namespace ferry::rpc {

struct Frame {
  FrameHeader header;
  ByteSpan body;  // valid until the next receive_frame()
};

// One thread may send while another receives.
class Connection {
 public:
  explicit Connection(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  // The connection may already hold bytes that the peer sent, so receive only through the connection.
  Transport& transport() { return *transport_; }

  // Makes the preamble go out in one write with the first frame.
  void put_preamble_before_first_frame(const Preamble& preamble);
  Result<Preamble> receive_preamble();

  // Takes the header's lengths from the spans. Fails with internal if the body exceeds kMaxBodyBytes. The caller must
  // then send payload_bytes_after more payload bytes with send_payload_piece() before any other frame.
  Status send_frame(FrameHeader header, ByteSpan body, ByteSpan payload = {}, std::uint64_t payload_bytes_after = 0);
  Status send_payload_piece(ByteSpan piece);
  template <class Request>
  Status send_request(std::uint64_t id, const Request& request, ByteSpan payload = {}) {
    return send_frame({FrameKind::request, static_cast<std::uint16_t>(MessageOf<Request>::kTag), ErrorCode::ok, id},
                      encode(request), payload);
  }
  // Answers the request of this header.
  template <class Reply>
  Status send_response(const FrameHeader& request, const Reply& reply, ByteSpan payload = {}) {
    return send_frame({FrameKind::response, request.tag, ErrorCode::ok, request.request}, encode(reply), payload);
  }
  // failed_request is the request whose failure caused this one, or 0.
  Status send_failure(const FrameHeader& request, const Status& failure, std::uint64_t failed_request = 0);
  template <class Event>
  Status send_event(EventTag tag, const Event& event) {
    return send_frame({FrameKind::event, static_cast<std::uint16_t>(tag)}, encode(event));
  }

  // Returns the next frame's header and body, after draining the rest of the previous frame's payload. unavailable with
  // the message kPeerClosed if the peer closed between two frames.
  Result<Frame> receive_frame();
  // Returns whether bytes of the next frame have already arrived. If neither the connection nor the transport holds
  // any, the peer is waiting.
  bool has_buffered_input() const { return ahead() != 0 || transport_->has_buffered_input(); }
  // Number of bytes of the current frame's payload that have not been received.
  std::uint64_t payload_left() const { return payload_left_; }
  // Receives the next into.size() bytes of the payload; fails with internal if fewer are left.
  Status receive_payload(MutableByteSpan into);
  // Receives and discards the rest of the payload.
  Status drain_payload();

 private:
  std::size_t ahead() const { return ahead_end_ - ahead_begin_; }
  Status receive_ahead(std::size_t at_least);
  Status take(MutableByteSpan into);

  std::unique_ptr<Transport> transport_;
  std::vector<std::uint8_t> preamble_;  // not yet sent
  std::vector<std::uint8_t> body_;
  // Bytes that arrived together with what was asked for: a header and its body cost one system call instead of two.
  std::array<std::uint8_t, 4096> ahead_;
  std::size_t ahead_begin_ = 0;
  std::size_t ahead_end_ = 0;
  std::uint64_t payload_left_ = 0;
};

// Encode whole frames as bytes, for callers that have a socket but no connection.
std::vector<std::uint8_t> whole_frame(FrameHeader header, ByteSpan body);
template <class Event>
std::vector<std::uint8_t> event_frame(EventTag tag, const Event& event) {
  return whole_frame({FrameKind::event, static_cast<std::uint16_t>(tag)}, encode(event));
}
std::vector<std::uint8_t> failure_frame(std::uint16_t tag, std::uint64_t request, const Status& failure,
                                        std::uint64_t failed_request = 0);

// Returns the status of a failed response, with a printable message; sets *failed_request unless it is null.
Status failure_of(const Frame& response, std::uint64_t* failed_request = nullptr);

}  // namespace ferry::rpc
