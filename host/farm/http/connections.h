// Threads that serve connections, each one at a time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/descriptor.h"

namespace ferry::farm::http {

class Connections {
 public:
  // Calls serve() for each connection, which is closed afterwards. Throws std::system_error if the system refuses a
  // thread.
  Connections(std::size_t threads, std::function<void(int)> serve);
  ~Connections() { stop(); }

  // Closes the connection at once where kWaiting others already wait for a thread.
  void add(Descriptor connection);
  // Shuts all connections down and returns when their threads have ended.
  void stop();

  static constexpr std::size_t kWaiting = 256;

 private:
  void work();

  std::function<void(int)> serve_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Descriptor> waiting_;
  std::set<int> served_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ferry::farm::http
