#include "farm/web/workers.h"

#include <system_error>
#include <utility>

namespace ferry::farm::http {

Workers::Workers(std::size_t threads, std::size_t for_strangers) : for_strangers_(for_strangers) {
  threads_.reserve(threads);
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    stop();
    throw;
  }
}

bool Workers::add(Job job, bool is_known) {
  const std::lock_guard lock(mutex_);
  std::deque<Job>& waiting = is_known ? known_ : strangers_;
  if (stopping_ || waiting.size() >= kWaiting) return false;
  waiting.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !known_.empty() || may_serve_stranger(); });
    if (stopping_) return;
    const bool is_known = !known_.empty();
    std::deque<Job>& waiting = is_known ? known_ : strangers_;
    const Job job = std::move(waiting.front());
    waiting.pop_front();
    if (!is_known) ++strangers_served_;
    lock.unlock();
    job();
    lock.lock();
    if (is_known) continue;
    --strangers_served_;
    // For those who have found no thread for strangers.
    changed_.notify_one();
  }
}

void Workers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    known_.clear();
    strangers_.clear();
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace ferry::farm::http
