// One request and its answer. Handlers receive payloads through it and set the payload and events of the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "device-runtime/session/state/activity.h"
#include "rpc/messages.h"
#include "rpc/wire/connection.h"

namespace ferry::device {

class RequestContext {
 public:
  // Records on the activity page that the request is in progress.
  RequestContext(rpc::Connection& connection, const rpc::FrameHeader& header, Activity& activity);
  RequestContext(const RequestContext&) = delete;
  RequestContext& operator=(const RequestContext&) = delete;

  std::uint64_t id() const { return header_.request; }
  std::uint64_t payload_bytes() const { return header_.payload_bytes; }
  Activity& activity() { return activity_; }

  // Receives the next bytes of the request's payload directly into their destination. A failure here ends the session.
  Status receive_payload(MutableByteSpan into);

  // Returns an `aborted` status; `cause` is the request that failed first.
  Status aborted(std::uint64_t cause, std::string message);
  // The request that caused this one's failure: itself, unless it was aborted.
  std::uint64_t cause() const { return failed_request_ != 0 ? failed_request_ : header_.request; }

  // Sets the payload of a successful answer, which is sent directly from this memory.
  void set_reply_payload(ByteSpan payload) { reply_payload_ = payload; }
  // Like set_reply_payload(), but takes ownership of the bytes.
  void give_reply_payload(std::vector<std::uint8_t> payload) {
    own_payload_ = std::move(payload);
    reply_payload_ = own_payload_;
  }
  // Like set_reply_payload(), for bytes that become available piece by piece: `send_all` passes each piece to the
  // function that it is given. If it fails before it has passed all bytes, the session ends in the middle of the
  // answer.
  using SendPiece = std::function<Status(ByteSpan)>;
  void set_reply_pieces(std::uint64_t bytes, std::function<Status(const SendPiece&)> send_all) {
    reply_pieces_bytes_ = bytes;
    reply_pieces_ = std::move(send_all);
  }
  // Reports a kernel crash that the device detected. The event precedes the answer, which is the last one of the
  // session.
  void report_crash(const std::string& function, const std::string& cause);
  // Ends the session after this request.
  void end_session() { session_ends_ = true; }
  bool session_ends() const { return session_ends_; }

  // Sends a line for the user of the client, ahead of the answer.
  void log(std::string text);

  template <class Reply>
  void answer(const Reply& reply) {
    send(rpc::encode(reply), nullptr);
  }
  void refuse(const Status& failure) { send({}, &failure); }

 private:
  void send(std::vector<std::uint8_t> body, const Status* failure);

  rpc::Connection& connection_;
  rpc::FrameHeader header_;
  Activity& activity_;
  ByteSpan reply_payload_;
  std::vector<std::uint8_t> own_payload_;
  std::uint64_t reply_pieces_bytes_ = 0;
  std::function<Status(const SendPiece&)> reply_pieces_;
  std::uint64_t failed_request_ = 0;
  bool session_ends_ = false;
};

}  // namespace ferry::device
