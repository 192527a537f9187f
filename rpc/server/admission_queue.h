// Clients that wait for a place, in order of arrival. Each is told its position and who holds the device, and again
// whenever that changes.
#pragma once

#include <deque>

#include "rpc/messages.h"
#include "rpc/server/handshake.h"

namespace ferry::server {

struct WaitingClient {
  HandshakenClient client;
  rpc::Open open;
  std::string peer;
  std::int64_t since = 0;
  std::uint64_t notified_of = 0;  // session number of the holder that the client knows of
};

class AdmissionQueue {
 public:
  bool is_empty() const { return clients_.empty(); }
  std::size_t size() const { return clients_.size(); }
  const std::deque<WaitingClient>& clients() const { return clients_; }

  void add(WaitingClient client) { clients_.push_back(std::move(client)); }
  // Removes and returns the next client, which may have gone; the queue must not be empty.
  WaitingClient take();
  // Removes the clients that have gone.
  void drop_gone();
  // `holder` is the number of the session that has run longest, `held_ms` for how long.
  void notify(std::uint64_t holder, const std::string& name, std::uint64_t held_ms);

 private:
  std::deque<WaitingClient> clients_;
  bool moved_ = false;  // some client's position differs from what it was told
};

}  // namespace ferry::server
