// A second thread that shares the records of one large transfer with the caller.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ferry::secure {

// Whether the calling thread may run on more than one core.
bool has_second_core();

// The thread sleeps while there is nothing to share and ends with the object, so that it is gone before a kernel runs.
// Where the system refuses a thread, the caller does all the work.
class ParallelRecords {
 public:
  ParallelRecords();
  ~ParallelRecords();
  ParallelRecords(const ParallelRecords&) = delete;
  ParallelRecords& operator=(const ParallelRecords&) = delete;

  // Calls work(i) once for every i below count, in both threads and in any order, and returns when all calls have
  // returned. work throws nothing.
  template <class Work>
  void share(std::size_t count, const Work& work) {
    share(count, [](const void* closure, std::size_t i) { (*static_cast<const Work*>(closure))(i); }, &work);
  }

 private:
  // The caller offers and takes back what the thread did not wake for; only the thread works and becomes idle again.
  enum State : std::uint32_t { idle, offered, working, ending };
  using Call = void (*)(const void* closure, std::size_t i);
  void share(std::size_t count, Call call, const void* closure);
  void work();
  void run();
  void set_state(State state);
  // Returns when the state is another one, or sooner.
  void wait_in(std::uint32_t state) const;

  std::atomic<std::uint32_t> state_{idle};
  // Written while the thread is idle.
  Call call_ = nullptr;
  const void* closure_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_{0};
  bool started_ = false;
  pthread_t thread_{};
};

}  // namespace ferry::secure
