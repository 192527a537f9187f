// Connections of clients that are not admitted yet or not any more: handshakes, and last frames that are being sent.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace ferry::server {

class PendingConnection {
 public:
  virtual ~PendingConnection() = default;
  // Closes the connection without an answer, because another one needs its place.
  virtual void abandon() = 0;
};

// Limits the number of such connections. Beyond the limit the oldest are abandoned: a legitimate client finishes
// quickly.
class PendingConnections {
 public:
  explicit PendingConnections(std::size_t most) : most_(most) {}
  void add(std::weak_ptr<PendingConnection> connection);
  void abandon_all();

 private:
  std::size_t most_;
  std::vector<std::weak_ptr<PendingConnection>> connections_;  // the oldest first
};

// Computes how many such connections are possible in addition to so many sessions, each with a connection and a stream
// for what it writes to standard error, and so many connections that wait. All of them together stay below the
// process's limit of open files, which is raised as far as the system allows.
struct ConnectionPlaces {
  std::size_t unadmitted;    // in their handshake, or being refused after it
  std::size_t final_frames;  // admitted clients that are sent their last frame
};
ConnectionPlaces find_connection_places(std::size_t sessions, std::size_t waiting);

}  // namespace ferry::server
