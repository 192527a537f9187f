// Connections that have got their response, but whose peers may still be sending. Closing them at once would make the
// system send a reset, which can take the response away from a peer that has not read it yet. They cost no thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <vector>

#include "base/descriptor.h"

namespace ferry::farm::http {

class Farewells {
 public:
  // Shuts down the direction to the peer. Closes the oldest one if there are kMost.
  void add(Descriptor connection);

  // Appends one entry for each connection, as Arrivals does.
  void append_to(std::vector<pollfd>& entries) const;
  int milliseconds_left() const;
  // Drops what has arrived, and closes the connections whose peers have closed theirs, have sent too much or had enough
  // time. Takes the entries from append_to().
  void read(const pollfd* entries);
  std::size_t size() const { return all_.size(); }

  static constexpr std::size_t kMost = 256;
  static constexpr std::chrono::milliseconds kTime{500};
  static constexpr std::size_t kMostBytes = 256 << 10;

 private:
  struct Farewell {
    Descriptor connection;
    std::chrono::steady_clock::time_point deadline;
    std::size_t bytes = 0;
  };

  std::deque<Farewell> all_;  // the oldest first
};

}  // namespace ferry::farm::http
