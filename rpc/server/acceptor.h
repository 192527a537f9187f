// Accepts connections and passes on the clients whose handshake succeeds; the others are refused. Handshakes and
// refusals in progress together have a limit: beyond it the oldest are dropped, so that no number of connections
// without a key keeps a client with a key out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "rpc/server/event_loop.h"
#include "rpc/server/handshake.h"

namespace ferry::server {

class Acceptor {
 public:
  struct Callbacks {
    std::function<void(HandshakenClient)> on_client;
    Callback on_end;  // after each handshake, whatever its outcome
    // Null: connections that ask to be relayed are refused.
    std::function<void(Descriptor, const rpc::RelayTicket&)> on_relay = {};
  };

  // `rules` and `keys` as in begin_handshake(). `secrets` must outlive the loop, and the loop this object; no callback
  // is called after its end.
  Acceptor(EventLoop& loop, const FirstRequestRules& rules, const KeySource* keys, SecretMemory& secrets,
           std::size_t max_pending, Callbacks callbacks);
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  ~Acceptor();

  // Takes ownership of a descriptor from listen_at().
  void listen(int listener);
  void stop_listening();
  // Takes ownership of a connected socket and begins its handshake.
  void adopt(int socket);
  // Returns whether any handshake is in progress.
  bool has_handshakes() const;

 private:
  struct State;

  void accept();

  EventLoop& loop_;
  const FirstRequestRules& rules_;
  const KeySource* keys_;
  SecretMemory& secrets_;
  // Shared with the handshakes, which the loop may destroy later than this object.
  std::shared_ptr<State> state_;
  std::optional<WatchedDescriptor> listener_;
  Timer retry_;
};

}  // namespace ferry::server
