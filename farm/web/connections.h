// Threads that answer requests, each one at a time. Clients who have shown a token or a session lately are served
// before all others, who have a part of the threads only, so that no number of them keeps out those who may use the
// farm.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "farm/web/arrivals.h"

namespace ferry::farm::http {

class Connections {
 public:
  // Calls serve() for each request, and then done() with its connection. At most `for_strangers` of the threads serve
  // clients who are not known. Throws std::system_error if the system refuses a thread.
  Connections(std::size_t threads, std::size_t for_strangers, std::function<void(Arrival&)> serve,
              std::function<void(Descriptor)> done);
  ~Connections() { stop(); }

  // Closes the connection at once where kWaiting others of its kind already wait for a thread.
  void add(Arrival arrival, bool is_known);
  // Shuts all connections down and returns when their threads have ended.
  void stop();

  static constexpr std::size_t kWaiting = 256;

 private:
  void work();
  bool may_serve_stranger() const { return !strangers_.empty() && strangers_served_ < for_strangers_; }

  const std::size_t for_strangers_;
  const std::function<void(Arrival&)> serve_;
  const std::function<void(Descriptor)> done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Arrival> known_, strangers_;  // both are queues
  std::size_t strangers_served_ = 0;
  std::set<int> served_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ferry::farm::http
