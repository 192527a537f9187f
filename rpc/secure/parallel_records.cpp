#include "rpc/secure/parallel_records.h"

#include <sched.h>

#include "base/futex.h"
#include "rpc/secure/secret.h"

namespace ferry::secure {

bool has_second_core() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 1;
}

ParallelRecords::ParallelRecords() {
  const auto main = [](void* self) -> void* {
    // The C library keeps the stack for the next thread.
    wiping_stack([self] { static_cast<ParallelRecords*>(self)->run(); });
    return nullptr;
  };
  started_ = pthread_create(&thread_, nullptr, main, this) == 0;
}

ParallelRecords::~ParallelRecords() {
  if (!started_) return;
  set_state(ending);
  pthread_join(thread_, nullptr);
}

void ParallelRecords::share(std::size_t count, Call call, const void* closure) {
  call_ = call;
  closure_ = closure;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  set_state(offered);
  work();
  std::uint32_t state = offered;
  if (state_.compare_exchange_strong(state, idle)) return;
  while (state_.load() == working) wait_in(working);
}

void ParallelRecords::work() {
  for (std::size_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) call_(closure_, i);
}

// std::atomic::wait() has a table of all waiting threads, of 2 KB.
void ParallelRecords::set_state(State state) {
  state_.store(state);
  futex_wake(state_, 1);
}

void ParallelRecords::wait_in(std::uint32_t state) const { futex_wait(state_, state); }

void ParallelRecords::run() {
  while (true) {
    std::uint32_t state = offered;
    if (state_.compare_exchange_strong(state, working)) {
      work();
      set_state(idle);
    } else if (state == ending) {
      return;
    } else {
      wait_in(state);
    }
  }
}

}  // namespace ferry::secure
