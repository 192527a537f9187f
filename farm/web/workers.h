// Threads that run jobs for clients. Those who have shown a token or a session lately are served before all others, who
// have a part of the threads only, so that no number of them keeps out those who may use the farm.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ferry::farm::http {

class Workers {
 public:
  using Job = std::function<void()>;

  // At most `for_strangers` of the threads serve clients who are not known. Throws std::system_error if the system
  // refuses a thread.
  Workers(std::size_t threads, std::size_t for_strangers);
  ~Workers() { stop(); }

  // Returns false where kWaiting other jobs of this kind already wait for a thread.
  bool add(Job job, bool is_known);
  // Drops the jobs that wait and returns when the others have ended.
  void stop();

  static constexpr std::size_t kWaiting = 256;

 private:
  void work();
  bool may_serve_stranger() const { return !strangers_.empty() && strangers_served_ < for_strangers_; }

  const std::size_t for_strangers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> known_, strangers_;  // both are queues
  std::size_t strangers_served_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ferry::farm::http
