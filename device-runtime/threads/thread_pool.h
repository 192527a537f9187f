// The threads that run parallel loops. They start with the first loop that needs them, spin briefly between loops and
// then sleep, so an idle pool costs nothing.
//
// Each thread first runs its own share of the iterations, the same one in every loop, since what it wrote in one loop
// it often reads in the next, from its own cache. It takes them in chunks that shrink towards the end of the share, and
// then helps with the shares of others.
//
// Only one thread at a time may call parallel_for from outside; bodies may call it recursively, which runs inline.
#pragma once

#include "device-runtime/threads/float_mode.h"
#include "ferry/runtime_api.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace ferry::device {

class ThreadPool {
 public:
  // threads includes the calling thread; at least 1.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Runs body over [0, n) in chunks of at least grain iterations (the last may be shorter) and waits for all chunks
  // that were started. The first non-zero result is returned and ends the loop: chunks not yet started are skipped.
  std::int32_t parallel_for(std::int64_t n, std::int64_t grain, ferry_parallel_body body, void* closure);

  unsigned threads() const { return threads_; }

  // Limits the threads of later loops, the caller included; 0: all.
  void set_limit(unsigned threads) { limit_ = threads == 0 || threads > threads_ ? threads_ : threads; }

  // Ends the workers. The next loop starts new ones, which run on the cores on which its caller may run. Must not be
  // called inside a loop.
  void stop_workers();

  // For a process whose threads another one stops (device-runtime/runner). Starts the workers, which call park() before
  // their first loop, and again after each park_workers(); park() returns when they are released. A loop that needs
  // them meanwhile calls release() first. Returns the number of workers once all make no system call but park(). Other
  // pools have no use for these functions.
  unsigned start_parked(void (*park)(), void (*release)());
  // Returns before they have all stopped.
  void park_workers();
  // They have been released without a loop that asked for it.
  void workers_were_released() { are_parked_ = false; }

  // Returns the index of the calling thread in its pool: 0 for the caller of parallel_for, then 1, 2, ...
  static unsigned thread_index();

 private:
  struct Loop {
    std::int64_t n = 0;
    std::int64_t grain = 1;
    ferry_parallel_body body = nullptr;
    void* closure = nullptr;
  };
  // Consecutive iterations from `next` on that no thread has taken yet; in a cache line of its own.
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };
  struct Worker {
    ThreadPool* pool = nullptr;
    unsigned index = 0;
    pthread_t thread{};
  };

  void start_workers();
  static void* worker_main(void* worker);
  void work(unsigned index);
  bool join_loop();
  void leave_loop();
  void make_shares(std::int64_t count);
  void run_chunks();
  void run_share(Share& share);
  bool take_chunk(Share& share, std::int64_t& begin, std::int64_t& end) const;
  void wait_for_others();

  const FloatMode mode_;  // in which workers begin each loop
  const unsigned threads_;
  unsigned limit_ = threads_;
  bool started_ = false;
  bool worth_spinning_ = true;
  std::vector<Worker> workers_;
  void (*park_)() = nullptr;
  void (*release_)() = nullptr;
  bool are_parked_ = false;

  // Written while no worker can join.
  Loop loop_;
  std::size_t share_count_ = 0;
  const std::unique_ptr<Share[]> shares_;  // one for each thread, of which a loop uses the first share_count_
  alignas(64) std::atomic<std::int32_t> result_{0};
  // The low half counts open places; the high half counts the workers inside, with one bit for a caller that sleeps
  // until they have left.
  alignas(64) std::atomic<std::uint32_t> gate_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};  // incremented by every loop, and once more at the end
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<std::uint32_t> parkings_{0};  // incremented by every order to park
  std::atomic<std::uint32_t> parked_{0};    // how often a worker has done so
  std::atomic<bool> stopping_{false};
};

}  // namespace ferry::device
