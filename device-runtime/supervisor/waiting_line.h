// Clients that wait for a place, in the order they came. Each is told its place and who holds the device, again
// whenever that changes.
#pragma once

#include <deque>

#include "device-runtime/supervisor/handshake.h"

namespace ferry::device {

struct WaitingClient {
  GreetedClient client;
  std::string peer;
  std::int64_t since = 0;
  std::uint64_t told = 0;  // the holder's session number that it knows of
};

class WaitingLine {
 public:
  bool is_empty() const { return clients_.empty(); }
  std::size_t size() const { return clients_.size(); }
  const std::deque<WaitingClient>& clients() const { return clients_; }

  void add(WaitingClient client) { clients_.push_back(std::move(client)); }
  // The next; the line must not be empty. Its client may have gone.
  WaitingClient take();
  // Forgets those whose clients have gone.
  void drop_gone();
  // `holder` is the number of the session that began first, held for so long.
  void tell(std::uint64_t holder, const std::string& name, std::uint64_t held_ms);

 private:
  std::deque<WaitingClient> clients_;
  bool moved_ = false;  // somebody stands at another place than he was told
};

}  // namespace ferry::device
