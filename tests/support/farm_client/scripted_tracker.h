// A tracker whose answers a test scripts. It listens on loopback with the real handshake, on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "farm/client/farm_access.h"
#include "farm/protocol/codec.h"
#include "rpc/server/acceptor.h"
#include "rpc/server/frame_channel.h"

namespace ferry::test {

class ScriptedTracker {
 public:
  // One client that has said hello. All functions must be called on the tracker's thread, by the script.
  class Peer {
   public:
    virtual ~Peer() = default;
    template <class Event>
    void send(const Event& event) {
      send_bytes(farm::wire::event_frame(event));
    }
    template <class Reply>
    void answer(const rpc::FrameHeader& request, const Reply& reply) {
      send_bytes(farm::wire::response_frame(request, reply));
    }
    void refuse(const rpc::FrameHeader& request, const Status& why) {
      send_bytes(rpc::failure_frame(request.tag, request.request, why));
    }
    virtual void send_bytes(std::span<const std::uint8_t> bytes) = 0;
    virtual void close() = 0;
    std::size_t number = 0;  // this connection's number; the first is 0
  };
  struct Message {
    std::size_t connection;
    rpc::FrameHeader header;
    std::vector<std::uint8_t> body;

    template <class Event>
    bool is() const {
      return header.tag == static_cast<std::uint16_t>(farm::wire::MessageOf<Event>::kTag);
    }
    template <class Event>
    Event as() const {
      return farm::wire::decode<Event>(body).value();
    }
  };
  // Called for each frame after hello, keepalives excepted, which are answered.
  using Script = std::function<void(Peer& peer, const Message& message)>;

  ScriptedTracker(const secure::Key& key, Script script);
  ~ScriptedTracker();
  ScriptedTracker(const ScriptedTracker&) = delete;
  ScriptedTracker& operator=(const ScriptedTracker&) = delete;

  TcpAddress address() const { return {"127.0.0.1", port_}; }
  // Runs on the tracker's thread, for each client that is connected, and returns afterwards.
  void with_peers(const std::function<void(Peer&)>& work);
  void close_all();
  // From now on hello is refused.
  void refuse_hello(const Status& why);
  // From now on nothing is answered, not even keepalives.
  void fall_silent();

  // What has arrived so far, without keepalives.
  std::vector<Message> messages() const;
  std::size_t connections() const;
  std::size_t ended_connections() const;
  // Waits until this holds, for at most 10 s, and returns whether it does.
  bool wait_until(const std::function<bool()>& condition) const;

 private:
  struct Keys;
  struct Client;

  void greet(server::HandshakenClient client);
  void on_loop(const std::function<void()>& work);

  std::uint16_t port_ = 0;
  std::unique_ptr<Keys> keys_;
  Script script_;
  server::SecretMemory secrets_;
  server::EventLoop loop_;
  std::unique_ptr<server::Acceptor> acceptor_;
  std::vector<std::unique_ptr<Client>> clients_;
  bool is_silent_ = false;
  Status hello_refusal_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Message> messages_;
  std::size_t connections_ = 0;
  std::size_t ended_ = 0;
  std::thread thread_;
};

// A farm with these trackers and this key.
farm::FarmAccess access_to(const std::vector<TcpAddress>& trackers, const secure::Key& key);

}  // namespace ferry::test
