#include "base/parallel_for.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "base/cancellation.h"

namespace ferry {
namespace {

// As deep recursion as on the main thread, whatever the limits of the process give other threads.
constexpr std::size_t kStackBytes = std::size_t{8} << 20;
constexpr std::size_t kMaxThreads = 64;

std::size_t processors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return 1;
  return std::clamp<std::size_t>(static_cast<std::size_t>(CPU_COUNT(&usable)), 1, kMaxThreads);
}

class Loop {
 public:
  Loop(std::size_t count, const std::function<void(std::size_t)>& action)
      : action_(action), count_(count), failed_(count), cancelled_(current_cancellation()) {}

  // Indices are taken in ascending order. So when one fails, all lower ones have been taken, and will end.
  void work() {
    const CancellationScope scope(cancelled_);
    for (std::size_t i = next_++; i < count_; i = next_++) {
      try {
        check_cancelled();
        action_(i);
      } catch (...) {
        next_ = count_;
        const std::lock_guard lock(mutex_);
        if (i >= failed_) continue;
        failed_ = i;
        failure_ = std::current_exception();
      }
    }
  }

  void finish() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  const std::function<void(std::size_t)>& action_;
  std::size_t count_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::size_t failed_;  // the lowest index that failed
  std::exception_ptr failure_;
  const IsCancelled* cancelled_;
};

void* work(void* loop) {
  static_cast<Loop*>(loop)->work();
  return nullptr;
}

// Threads that cannot be started are done without.
std::vector<pthread_t> start_threads(std::size_t count, Loop& loop) {
  std::vector<pthread_t> threads;
  threads.reserve(count);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  for (pthread_t thread{}; threads.size() < count; threads.push_back(thread)) {
    if (pthread_create(&thread, &attributes, work, &loop) != 0) break;
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return threads;
}

}  // namespace

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& action) {
  if (count == 0) return;
  Loop loop(count, action);
  const std::vector<pthread_t> threads = start_threads(std::min(count, processors()) - 1, loop);
  loop.work();
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  loop.finish();
}

}  // namespace ferry
