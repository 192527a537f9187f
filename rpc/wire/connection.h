// Frames over a transport. Bodies are small and pass through a buffer of the connection; payloads go from and to their
// final place, but for the first few that came together with their header.
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
  ByteSpan body;  // until the next receive_frame()
};

// One thread may send while another receives.
class Connection {
 public:
  explicit Connection(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  // What the peer sent may already be in the connection: receive through it alone.
  Transport& transport() { return *transport_; }

  // The preamble goes out in one write with the first frame.
  void put_preamble_before_first_frame(const Preamble& preamble);
  Result<Preamble> receive_preamble();

  // The header's lengths are taken from the spans. internal when the body is over kMaxBodyBytes. After it, so many more
  // bytes of the payload must be sent in pieces before anything else.
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
  // failed_request: the request that this one depended on, or 0.
  Status send_failure(const FrameHeader& request, const Status& failure, std::uint64_t failed_request = 0);
  template <class Event>
  Status send_event(EventTag tag, const Event& event) {
    return send_frame({FrameKind::event, static_cast<std::uint16_t>(tag)}, encode(event));
  }

  // The next frame's header and body. What is left of the last frame's payload is drained first. unavailable with
  // kPeerClosed as its message when the peer closed between two frames.
  Result<Frame> receive_frame();
  // Whether bytes of the next frame are here already: with none, and none in the transport, the peer is waiting.
  bool has_received_ahead() const { return ahead() != 0 || transport_->has_received_ahead(); }
  // Bytes of the last frame's payload that have not been received.
  std::uint64_t payload_left() const { return payload_left_; }
  // The next into.size() bytes of the payload; internal when fewer are left.
  Status receive_payload(MutableByteSpan into);
  // Receives and forgets the rest of the payload.
  Status drain_payload();

 private:
  std::size_t ahead() const { return ahead_end_ - ahead_begin_; }
  Status receive_ahead(std::size_t at_least);
  Status take(MutableByteSpan into);

  std::unique_ptr<Transport> transport_;
  std::vector<std::uint8_t> preamble_;  // not sent yet
  std::vector<std::uint8_t> body_;
  // Received together with what came before them: a header and its body cost one system call, not two.
  std::array<std::uint8_t, 4096> ahead_;
  std::size_t ahead_begin_ = 0;
  std::size_t ahead_end_ = 0;
  std::uint64_t payload_left_ = 0;
};

// Whole frames as bytes, for those who have a socket but no connection.
std::vector<std::uint8_t> whole_frame(FrameHeader header, ByteSpan body);
template <class Event>
std::vector<std::uint8_t> event_frame(EventTag tag, const Event& event) {
  return whole_frame({FrameKind::event, static_cast<std::uint16_t>(tag)}, encode(event));
}
std::vector<std::uint8_t> failure_frame(std::uint16_t tag, std::uint64_t request, const Status& failure,
                                        std::uint64_t failed_request = 0);

// The status that a failed response carries, in printable words, with failed_request where the caller asks for it.
Status failure_of(const Frame& response, std::uint64_t* failed_request = nullptr);

}  // namespace ferry::rpc
