// Frames in both directions over an encrypted connection, without blocking the loop. Everything has a limit: the body
// of a frame that arrives, and what waits to be sent to a peer that does not read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/descriptor.h"
#include "rpc/server/event_loop.h"
#include "rpc/server/secure_ends.h"
#include "rpc/wire/frame.h"

namespace ferry::server {

class FrameChannel : public std::enable_shared_from_this<FrameChannel> {
 public:
  struct Limits {
    std::size_t body;
    std::size_t queued;  // bytes that wait to be sent
  };
  class Owner {
   public:
    virtual ~Owner() = default;
    // A frame without payload has arrived. The body is wiped afterwards.
    virtual void on_frame(const rpc::FrameHeader& header, std::span<const std::uint8_t> body) = 0;
    // The connection has ended or has broken the protocol or a limit. Called once, unless close() is called before.
    virtual void on_end(const Status& why) = 0;
  };

  // The loop must outlive the channel, and the owner must call close() unless the channel has ended.
  static std::shared_ptr<FrameChannel> start(EventLoop& loop, Descriptor socket, SecretMemory::Pointer secure,
                                             const Limits& limits, Owner& owner);

  FrameChannel(EventLoop& loop, Descriptor socket, SecretMemory::Pointer secure, const Limits& limits, Owner& owner);

  // Each frame is sent in records of its own. May call on_end().
  void send(std::span<const std::uint8_t> frame);
  // Closes the connection at once; no callback follows.
  void close();
  bool is_open() const { return socket_.is_open(); }
  // Bytes that wait to be sent.
  std::size_t queued() const { return out_.size() - sent_; }
  int socket() const { return socket_.number(); }
  // When bytes last arrived, also of a frame that is not complete; at first when the channel began.
  std::chrono::steady_clock::time_point heard_at() const { return heard_at_; }

 private:
  void read();
  void write();
  // These return false once the channel has ended.
  bool take_records();
  bool take_frames();
  void end(const Status& why);

  WatchedDescriptor socket_;
  SecretMemory::Pointer secure_;
  Limits limits_;
  Owner* owner_;                      // null once the channel has ended
  std::vector<std::uint8_t> sealed_;  // received, not yet a whole record
  std::vector<std::uint8_t> plain_;   // decrypted, not yet a whole frame
  std::vector<std::uint8_t> out_;
  std::size_t sent_ = 0;  // bytes of out_ that are sent
  bool is_writing_ = false;
  std::chrono::steady_clock::time_point heard_at_ = std::chrono::steady_clock::now();
};

}  // namespace ferry::server
