#include "device-runtime/runner/window.h"

#include <time.h>

#include <utility>

#include "device-runtime/measure/clock.h"
#include "device-runtime/runner/task.h"

namespace ferry::device {
namespace {

constexpr std::int64_t kMostFallingAsleepNs = 100'000'000;

}  // namespace

Windows::Windows(RunnerProcess runner, std::unique_ptr<Stops> stops, std::uint32_t workers, RunnerPage& page)
    : runner_(std::move(runner)), stops_(std::move(stops)), page_(page), worker_count_(workers) {
  workers_.reserve(workers);
  clock_getcpuclockid(runner_.process, &clock_);
}

std::int64_t Windows::processor_ns() const {
  timespec time{};
  clock_gettime(clock_, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// A thread that has reported its stop still has to fall asleep. On another core that takes a microsecond, or
// milliseconds where a virtual machine takes the core away meanwhile, and the system counts them as the thread's. It
// executes nothing of the kernel's in them if it is held, so they are neither inside of a window nor outside.
std::int64_t Windows::processor_ns_at_rest(bool with_workers) const {
  std::int64_t time = processor_ns();
  if (!with_workers || !stops_->are_held()) return time;
  for (const std::int64_t begin_ns = now_ns(); now_ns() - begin_ns < kMostFallingAsleepNs;) {
    if (const std::int64_t again = processor_ns(); std::exchange(time, again) == again) break;
  }
  return time;
}

// Waits for the next stop of a thread.
bool Windows::receive() {
  const std::optional<Stop> stop = stops_->next(runner_.socket);
  if (!stop) return false;
  stopped_ns_ = stop->at_ns;
  if (!stop->is_first) {
    if (workers_.size() == worker_count_) return false;  // what more threads than there are say is false
    workers_.push_back(*stop);
    return true;
  }
  first_ = *stop;
  if (page_.wants_threads.load() == 0) return true;
  uses_threads_ = true;
  return release_workers() && answer_first();
}

bool Windows::answer_first() { return stops_->answer(std::exchange(first_, {})); }

bool Windows::release_workers() {
  bool is_answered = true;
  for (const Stop& worker : workers_) is_answered = stops_->answer(worker) && is_answered;
  workers_.clear();
  return is_answered;
}

bool Windows::wait() {
  while (!are_stopped()) {
    if (!receive()) return false;
  }
  return true;
}

bool Windows::begin() {
  if (!wait()) return false;
  processor_end_ns_ = processor_ns_at_rest(worker_count_ > 0);
  return true;
}

bool Windows::open(std::uint64_t calls, Window& window) {
  if (!stops_->is_quiet()) has_lied_ = true;
  page_.calls.store(calls);
  page_.runs_threads.store(uses_threads_ ? 1 : 0);
  const std::int64_t processor_begin_ns = processor_ns();
  outside_ns_ += processor_begin_ns - processor_end_ns_;
  const std::int64_t begin_ns = now_ns();
  if (uses_threads_ && !release_workers()) return false;
  if (!answer_first() || !wait()) return false;
  window.elapsed_ns = stopped_ns_ - begin_ns;
  window.processor_ns = processor_ns() - processor_begin_ns;
  processor_end_ns_ = processor_ns_at_rest(uses_threads_);
  window.result = page_.result.load();
  return true;
}

}  // namespace ferry::device
