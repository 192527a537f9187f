// One request and its answer. Handlers receive payloads through it and say what else belongs to the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "device-runtime/handlers/activity.h"
#include "rpc/messages.h"
#include "rpc/wire/connection.h"

namespace ferry::device {

class Exchange {
 public:
  // Tells the activity page that the request is under way.
  Exchange(rpc::Connection& connection, const rpc::FrameHeader& header, Activity& activity);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  std::uint64_t id() const { return header_.request; }
  std::uint64_t payload_bytes() const { return header_.payload_bytes; }
  Activity& activity() { return activity_; }

  // The next bytes of the request's payload, straight into place. A failure here ends the session.
  Status receive_payload(MutableByteSpan into);

  // The status `aborted`; `cause` is the request that went wrong first.
  Status aborted(std::uint64_t cause, std::string message);
  // The request that this one's failure goes back to: itself, unless it was aborted.
  std::uint64_t cause() const { return failed_request_ != 0 ? failed_request_ : header_.request; }

  // Sent with a good answer, from where it lies.
  void set_reply_payload(ByteSpan payload) { reply_payload_ = payload; }
  // The same for bytes that nobody else keeps.
  void give_reply_payload(std::vector<std::uint8_t> payload) {
    own_payload_ = std::move(payload);
    reply_payload_ = own_payload_;
  }
  // The same for bytes that come piece by piece: `send_all` hands each to the function that it is given. When it fails
  // before it has handed over all, the session ends inside the answer.
  using SendPiece = std::function<Status(ByteSpan)>;
  void set_reply_pieces(std::uint64_t bytes, std::function<Status(const SendPiece&)> send_all) {
    reply_pieces_bytes_ = bytes;
    reply_pieces_ = std::move(send_all);
  }
  // A device says that the kernel has crashed: what it was, ahead of the answer, which is the session's last.
  void tell_crash(const std::string& function, const std::string& cause);
  // No more requests are taken after this one.
  void end_session() { session_ends_ = true; }
  bool session_ends() const { return session_ends_; }

  // A line for the person at the client, ahead of the answer.
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
