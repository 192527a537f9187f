// An alternate stack for the calling thread's signal handlers: a thread that has overflowed its stack cannot run a
// handler on it.
#pragma once

#include <signal.h>

#include <memory>

namespace ferry::device {

class SignalStack {
 public:
  // If the allocation fails, the thread has no alternate stack.
  SignalStack() : memory_(new(std::nothrow) char[kBytes]) {
    if (memory_ == nullptr) return;
    const stack_t stack{.ss_sp = memory_.get(), .ss_flags = 0, .ss_size = kBytes};
    sigaltstack(&stack, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack() {
    const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    sigaltstack(&none, nullptr);
  }

 private:
  // The saved registers alone take 11 KB on the newest processors.
  static constexpr std::size_t kBytes = 64 << 10;
  std::unique_ptr<char[]> memory_;
};

}  // namespace ferry::device
