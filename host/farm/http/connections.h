// Threads that answer requests, each one at a time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "host/farm/http/arrivals.h"

namespace ferry::farm::http {

class Connections {
 public:
  // Calls serve() for each request, whose connection is closed afterwards. Throws std::system_error if the system
  // refuses a thread.
  Connections(std::size_t threads, std::function<void(Arrival&)> serve);
  ~Connections() { stop(); }

  // Closes the connection at once where kWaiting others already wait for a thread.
  void add(Arrival arrival);
  // Shuts all connections down and returns when their threads have ended.
  void stop();

  static constexpr std::size_t kWaiting = 256;

 private:
  void work();

  std::function<void(Arrival&)> serve_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Arrival> waiting_;
  std::set<int> served_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ferry::farm::http
