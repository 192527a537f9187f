#include "rpc/secure/parallel_records.h"

#include <sched.h>

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
  state_.store(ending);
  state_.notify_one();
  pthread_join(thread_, nullptr);
}

void ParallelRecords::share(std::size_t count, Call call, const void* closure) {
  call_ = call;
  closure_ = closure;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  state_.store(offered);
  state_.notify_one();
  work();
  int state = offered;
  if (state_.compare_exchange_strong(state, idle)) return;
  state_.wait(working);
}

void ParallelRecords::work() {
  for (std::size_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) call_(closure_, i);
}

void ParallelRecords::run() {
  while (true) {
    int state = offered;
    if (state_.compare_exchange_strong(state, working)) {
      work();
      state_.store(idle);
      state_.notify_one();
    } else if (state == ending) {
      return;
    } else {
      state_.wait(state);
    }
  }
}

}  // namespace ferry::secure
