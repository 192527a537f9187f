#include "host/python/interruptible.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "base/cancellation.h"
#include "ferry/error.h"
#include "host/python/session.h"

namespace ferry::python {

namespace {

// As deep recursion as on the main thread, whatever the limits of the process give other threads.
constexpr std::size_t kStackBytes = std::size_t{8} << 20;
constexpr std::chrono::milliseconds kAskForSignals{50};

// The threads that work. It is never destroyed, as they may outlive all else.
struct Running {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
  int forks = 0;  // threads of a parent are not in a process that was forked
};

Running& running() {
  static Running& all = *new Running;
  return all;
}

struct Task {
  std::function<void()> work;
  std::atomic<bool> cancelled{false};
  std::exception_ptr failure;
  bool is_done = false;  // guarded by Running::mutex
};

void* run(void* held) {
  std::unique_ptr<std::shared_ptr<Task>> task(static_cast<std::shared_ptr<Task>*>(held));
  {
    const IsCancelled asked = [&] { return (*task)->cancelled.load(); };
    const CancellationScope scope(&asked);
    try {
      (*task)->work();
    } catch (...) {
      (*task)->failure = std::current_exception();
    }
  }
  (*task)->work = nullptr;  // what it holds of Python has to go before the interpreter does
  const std::lock_guard lock(running().mutex);
  (*task)->is_done = true;
  --running().count;
  running().changed.notify_all();
  return nullptr;
}

// Returns false if the system has no thread left.
bool start(const std::shared_ptr<Task>& task) {
  {
    const std::lock_guard lock(running().mutex);
    if (running().forks != forks()) running().count = 0;
    running().forks = forks();
    ++running().count;
  }
  auto held = std::make_unique<std::shared_ptr<Task>>(task);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const bool has_started = pthread_create(&thread, &attributes, run, held.get()) == 0;
  pthread_attr_destroy(&attributes);
  if (has_started) {
    held.release();
    return true;
  }
  const std::lock_guard lock(running().mutex);
  --running().count;
  return false;
}

}  // namespace

void run_interruptibly(const std::function<void()>& work) {
  // Python handles signals on its main thread alone.
  if (gettid() != getpid()) return work();
  const auto task = std::make_shared<Task>();
  task->work = work;
  if (!start(task)) return work();
  std::unique_lock lock(running().mutex);
  while (!running().changed.wait_for(lock, kAskForSignals, [&] { return task->is_done; })) {
    lock.unlock();
    if (is_interrupted()) {
      task->cancelled = true;
      throw Error(ErrorCode::aborted, "interrupted");
    }
    lock.lock();
  }
  if (task->failure != nullptr) std::rethrow_exception(task->failure);
}

void finish_abandoned_work() {
  std::unique_lock lock(running().mutex);
  running().changed.wait(lock, [] { return running().count == 0 || running().forks != forks(); });
}

}  // namespace ferry::python
