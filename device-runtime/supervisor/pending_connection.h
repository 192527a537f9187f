// Connections on which no session is served: handshakes, and last frames that are under way.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace ferry::device {

class PendingConnection {
 public:
  virtual ~PendingConnection() = default;
  // Closes without a word: somebody else needs the place.
  virtual void abandon() = 0;
};

// So many of them at a time: the oldest give way, for whoever has something to say is through soon.
class PendingConnections {
 public:
  explicit PendingConnections(std::size_t most) : most_(most) {}
  void add(std::weak_ptr<PendingConnection> connection);

 private:
  std::size_t most_;
  std::vector<std::weak_ptr<PendingConnection>> connections_;  // the oldest first
};

// How many there may be beside as many connections that are served or wait: all together stay below the number of files
// that this process may have open, which is raised as far as the system allows.
struct ConnectionPlaces {
  std::size_t strangers;  // in their handshake, or hearing that they are refused
  std::size_t farewells;  // known clients that hear a last word
};
ConnectionPlaces find_connection_places(std::size_t served);

}  // namespace ferry::device
