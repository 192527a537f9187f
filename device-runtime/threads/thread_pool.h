// The threads that share a parallel loop. They start with the first loop that needs them, take iterations in chunks
// that shrink as the loop nears its end, spin for a moment between loops and then sleep: an idle pool costs nothing.
//
// One thread at a time calls parallel_for from outside; bodies may call it again, which runs inline.
#pragma once

#include "rpc/abi/runtime_api.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace ferry::device {

class ThreadPool {
 public:
  // threads counts the caller's; at least 1.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Runs body over [0, n) in chunks of at least grain iterations (the last may be shorter) and waits for all that
  // started. The first non-zero result is returned and ends the loop: chunks not yet started are dropped.
  std::int32_t parallel_for(std::int64_t n, std::int64_t grain, ferry_parallel_body body, void* closure);

  unsigned threads() const { return threads_; }

  // Loops started from now on use at most so many threads, the caller's included; 0: all.
  void set_limit(unsigned threads) { limit_ = threads == 0 || threads > threads_ ? threads_ : threads; }

  // The next loop starts its threads anew, which then run where its caller may run. Not from inside a loop.
  void stop_workers();

  // Of the calling thread in the pool it works for: 0 for whoever calls parallel_for, then 1, 2, ...
  static unsigned thread_index();

 private:
  struct Loop {
    std::int64_t n = 0;
    std::int64_t grain = 1;
    ferry_parallel_body body = nullptr;
    void* closure = nullptr;
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
  void run_chunks();
  bool take_chunk(std::int64_t& begin, std::int64_t& end);
  void wait_for_others();

  const unsigned threads_;
  unsigned limit_ = threads_;
  bool started_ = false;
  bool worth_spinning_ = true;
  std::vector<Worker> workers_;

  Loop loop_;  // written while nobody can join
  alignas(64) std::atomic<std::int64_t> next_{0};
  std::atomic<std::int32_t> result_{0};
  // Open places in the low half; in the high half the workers inside, and one bit for a caller who sleeps until they
  // left.
  alignas(64) std::atomic<std::uint32_t> gate_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};  // grows with every loop, and once more at the end
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace ferry::device
