// Connections whose requests have not arrived as a whole. However many are silent or slow, they cost no thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "farm/web/request_head.h"

namespace ferry::farm::http {

struct Arrival {
  Descriptor connection;  // non-blocking
  std::chrono::steady_clock::time_point deadline;
  std::string bytes = {};    // what has been read
  std::size_t expected = 0;  // how many the request has; 0: its head is not complete
  CheckedHead head = {};     // also why the request is refused, if it is
  std::size_t head_bytes = 0;
};

class Arrivals {
 public:
  // The time in which all of a request must arrive.
  explicit Arrivals(std::chrono::milliseconds time) : time_(time) {}

  // Closes the oldest one if there are kMost.
  void add(Descriptor connection);
  void drop_oldest();

  // Appends one entry for each connection. They must be polled for no longer than until the next deadline, in
  // milliseconds; -1: there is none.
  void append_to(std::vector<pollfd>& entries) const;
  int milliseconds_left() const;

  // Reads what has arrived, by the entries from append_to(). Returns the requests that are whole, and those that are
  // refused: because of their heads, too large, or because their time is over.
  std::vector<Arrival> take(const pollfd* entries);

  static constexpr std::size_t kMost = 512;

 private:
  std::chrono::milliseconds time_;
  std::deque<Arrival> all_;  // the oldest first
};

}  // namespace ferry::farm::http
