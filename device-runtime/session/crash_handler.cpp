#include "device-runtime/session/crash_handler.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "device-runtime/loader/loaded_code.h"

namespace ferry::device {
namespace {

// Global because a signal handler has no argument for it.
Activity* shared = nullptr;

std::uintptr_t stopped_at(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#elif defined(__arm__)
  return machine.arm_pc;
#else
  return machine.__gregs[REG_PC];
#endif
}

// The first thread may still be writing when another one crashes too. Its wait has an end, because kernels can
// overwrite the memory that it looks at.
void wait_for_record(const Crash& crash) {
  constexpr int kMostMilliseconds = 1000;
  for (int waited = 0; waited < kMostMilliseconds && crash.signal.load() == 0; ++waited) poll(nullptr, 0, 1);
}

void on_crash(int number, siginfo_t* info, void* context) {
  Crash& crash = shared->crash;
  int none = 0;
  if (crash.taken.compare_exchange_strong(none, 1)) {
    crash.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const LoadedCode::Place place = LoadedCode::find(stopped_at(context));
    crash.module = place.module;
    crash.offset = place.offset;
    crash.signal.store(number);
  } else {
    wait_for_record(crash);
  }
  // Delivered when this handler has returned; it ends the process as if there had been no handler.
  signal(number, SIG_DFL);
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

}  // namespace

void note_crashes(Activity& activity) {
  shared = &activity;
  struct sigaction action{};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);  // a second signal must not end a thread in the middle of its record
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGTERM, SIGXCPU, SIGXFSZ}) {
    sigaction(number, &action, nullptr);
  }
}

}  // namespace ferry::device
