#include "device-runtime/threads/thread_pool.h"

#include "device-runtime/threads/futex.h"
#include "device-runtime/threads/signal_stack.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <climits>

namespace ferry::device {
namespace {

constexpr std::uint32_t kPlaces = 0xffff;
constexpr std::uint32_t kInside = 0x10000;
constexpr std::uint32_t kCallerSleeps = 0x80000000;
constexpr std::uint32_t kInsideMask = 0x7fff0000;
constexpr unsigned kMaxThreads = 0x7fff;

// Long enough to bridge the serial part between two loops of one kernel, too short to show up in a process list.
constexpr std::int64_t kSpinNanoseconds = 50'000;

thread_local unsigned current_index = 0;
thread_local bool inside_loop = false;

std::int64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Spins for a limited time; returns true once done() does.
template <class Done>
bool spin_until(bool worth_it, Done done) {
  if (done()) return true;
  if (!worth_it) return false;
  const std::int64_t end = clock_ns() + kSpinNanoseconds;
  do {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      spin_pause();
    }
  } while (clock_ns() < end);
  return false;
}

}  // namespace

ThreadPool::ThreadPool(unsigned threads)
    : threads_(std::clamp(threads, 1U, kMaxThreads)), shares_(new Share[threads_]) {
  // With more threads than processors, a spinning thread only delays the one that it waits for.
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    worth_spinning_ = threads_ <= static_cast<unsigned>(CPU_COUNT(&allowed));
  }
}

ThreadPool::~ThreadPool() { stop_workers(); }

void ThreadPool::stop_workers() {
  stopping_.store(true);
  round_.fetch_add(1);
  futex_wake(round_, INT_MAX);
  for (const Worker& worker : workers_) pthread_join(worker.thread, nullptr);
  workers_.clear();
  started_ = false;
  stopping_.store(false);
}

unsigned ThreadPool::start_parked(void (*park)(), void (*release)()) {
  if (threads_ == 1) return 0;
  park_ = park;
  release_ = release;
  parkings_.store(1);
  are_parked_ = true;
  start_workers();
  while (parked_.load() < workers_.size()) sched_yield();
  return static_cast<unsigned>(workers_.size());
}

void ThreadPool::park_workers() {
  if (are_parked_ || workers_.empty()) return;
  are_parked_ = true;
  parkings_.fetch_add(1);
  // A worker that reads the old number above has read the old round before, and does not sleep.
  round_.fetch_add(1);
  futex_wake(round_, INT_MAX);
}

unsigned ThreadPool::thread_index() { return current_index; }

void ThreadPool::start_workers() {
  started_ = true;
  workers_.reserve(threads_ - 1);  // workers keep pointers into the vector
  for (unsigned i = 1; i < threads_; ++i) {
    workers_.push_back({this, i, {}});
    // Fewer threads than requested are sufficient: every loop also runs on the caller alone.
    if (pthread_create(&workers_.back().thread, nullptr, worker_main, &workers_.back()) != 0) {
      workers_.pop_back();
      return;
    }
  }
}

void* ThreadPool::worker_main(void* worker) {
  const auto* self = static_cast<const Worker*>(worker);
  const SignalStack signal_stack;
  self->pool->work(self->index);
  return nullptr;
}

void ThreadPool::work(unsigned index) {
  current_index = index;
  inside_loop = true;
  mode_.restore();  // a kernel may have started this thread
  std::uint32_t parked = 0;
  while (true) {
    // Read before `stopping_`, which is set before the last round: a worker that misses the flag here sees the new
    // round and does not sleep.
    const std::uint32_t seen = round_.load();
    if (stopping_.load()) return;
    if (const std::uint32_t parkings = parkings_.load(); parkings != parked) {
      parked = parkings;
      parked_.fetch_add(1);
      park_();
      continue;
    }
    if (join_loop()) {
      run_chunks();
      mode_.restore();
      leave_loop();
      continue;
    }
    if (spin_until(worth_spinning_, [&] { return round_.load(std::memory_order_relaxed) != seen; })) continue;
    sleepers_.fetch_add(1);
    futex_wait(round_, seen);
    sleepers_.fetch_sub(1);
  }
}

bool ThreadPool::join_loop() {
  std::uint32_t gate = gate_.load(std::memory_order_acquire);
  while ((gate & kPlaces) != 0) {
    if (gate_.compare_exchange_weak(gate, gate - 1 + kInside, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void ThreadPool::leave_loop() {
  const std::uint32_t before = gate_.fetch_sub(kInside, std::memory_order_acq_rel);
  if ((before & kCallerSleeps) != 0 && (before & kInsideMask) == kInside) futex_wake(gate_, 1);
}

void ThreadPool::make_shares(std::int64_t count) {
  share_count_ = static_cast<std::size_t>(count);
  // Whole chunks, except for the last share.
  const std::int64_t chunks = (loop_.n - 1) / loop_.grain + 1;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t own = chunks / count + (i < chunks % count ? 1 : 0);
    shares_[i].next.store(begin, std::memory_order_relaxed);
    begin = own > (loop_.n - begin) / loop_.grain ? loop_.n : begin + own * loop_.grain;
    shares_[i].end = begin;
  }
}

bool ThreadPool::take_chunk(Share& share, std::int64_t& begin, std::int64_t& end) const {
  begin = share.next.load(std::memory_order_relaxed);
  do {
    const std::int64_t left = share.end - begin;
    if (left <= 0) return false;
    // Takes half at a time: this needs few steps and leaves chunks at the end that are small enough to balance.
    end = begin + (left / 2 < loop_.grain ? left : left / 2);
  } while (!share.next.compare_exchange_weak(begin, end, std::memory_order_relaxed));
  return true;
}

void ThreadPool::run_share(Share& share) {
  std::int64_t begin = 0, end = 0;
  while (result_.load(std::memory_order_relaxed) == 0 && take_chunk(share, begin, end)) {
    const std::int32_t result = loop_.body(begin, end, loop_.closure);
    if (result == 0) continue;
    std::int32_t none = 0;
    result_.compare_exchange_strong(none, result);
  }
}

void ThreadPool::run_chunks() {
  const std::size_t own = current_index % share_count_;
  for (std::size_t i = own; i < share_count_; ++i) run_share(shares_[i]);
  for (std::size_t i = 0; i < own; ++i) run_share(shares_[i]);
}

void ThreadPool::wait_for_others() {
  // Workers that have not joined by now are not waited for.
  gate_.fetch_and(~kPlaces, std::memory_order_acq_rel);
  const auto nobody_inside = [&] { return (gate_.load(std::memory_order_acquire) & kInsideMask) == 0; };
  if (spin_until(worth_spinning_, nobody_inside)) return;
  std::uint32_t gate = gate_.fetch_or(kCallerSleeps) | kCallerSleeps;
  while ((gate & kInsideMask) != 0) {
    futex_wait(gate_, gate);
    gate = gate_.load(std::memory_order_acquire);
  }
}

std::int32_t ThreadPool::parallel_for(std::int64_t n, std::int64_t grain, ferry_parallel_body body, void* closure) {
  if (n <= 0) return 0;
  grain = std::max<std::int64_t>(grain, 1);
  if (inside_loop || limit_ == 1 || n <= grain) return body(0, n, closure);
  if (!started_) start_workers();
  if (workers_.empty()) return body(0, n, closure);
  if (are_parked_) {
    are_parked_ = false;
    release_();
  }

  const std::int64_t chunks = (n - 1) / grain + 1;
  const auto helpers = static_cast<std::uint32_t>(
      std::min({chunks - 1, std::int64_t{limit_} - 1, static_cast<std::int64_t>(workers_.size())}));
  loop_ = {n, grain, body, closure};
  make_shares(std::int64_t{helpers} + 1);
  result_.store(0, std::memory_order_relaxed);
  gate_.store(helpers, std::memory_order_release);
  round_.fetch_add(1);
  if (sleepers_.load() != 0) futex_wake(round_, static_cast<int>(helpers));

  inside_loop = true;
  run_chunks();
  wait_for_others();
  inside_loop = false;
  return result_.load(std::memory_order_relaxed);
}

}  // namespace ferry::device
