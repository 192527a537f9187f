#include "device-runtime/session/crash_handler.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ferry::device {
namespace {

// Global because a signal handler has no argument for it.
Activity* shared = nullptr;

// The first thread may still be writing when another one crashes too. Its wait has an end, because kernels can
// overwrite the memory that it looks at.
void wait_for_record(const Crash& crash) {
  constexpr int kMostMilliseconds = 1000;
  for (int waited = 0; waited < kMostMilliseconds && crash.signal.load() == 0; ++waited) poll(nullptr, 0, 1);
}

void on_crash(int number, siginfo_t* info, void* context) {
  // A signal to the whole group stops a kernel in another process too, which says where.
  if (const Crash* runner = crash_of_runner.load(); runner != nullptr && number == SIGTERM) {
    wait_for_record(*runner);
    copy_crash(shared->crash, *runner);
  }
  if (!record_crash(shared->crash, number, *info, context)) wait_for_record(shared->crash);
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
