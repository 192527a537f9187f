#include "host/cli/options/interrupts.h"

#include <semaphore.h>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "host/text/progress.h"

namespace ferry::cli {

namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

sem_t came;  // posted by the signal handler
std::atomic<int> last_signal = 0;
std::atomic<bool> is_interruptible = false;
std::atomic<bool> is_asked_to_end = false;

void on_signal(int number) {
  last_signal = number;
  sem_post(&came);
}

void die_of_signal() {
  const int number = last_signal;
  if (number == 0) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// A handler may call very little, so a thread waits for the signals.
[[noreturn]] void wait_for_signals() {
  while (true) {
    if (sem_wait(&came) != 0) continue;
    if (is_interruptible && !is_asked_to_end.exchange(true)) continue;
    text::Progress::clear();
    std::fflush(stderr);
    std::quick_exit(EXIT_FAILURE);
  }
}

}  // namespace

void handle_interrupts() {
  if (sem_init(&came, 0, 0) != 0) return;
  // Runs after the handlers that are added later, such as that of temporary folders.
  std::at_quick_exit(die_of_signal);
  for (const int number : kSignals)
    if (std::signal(number, on_signal) == SIG_IGN) std::signal(number, SIG_IGN);
  std::thread(wait_for_signals).detach();
}

InterruptibleWork::InterruptibleWork() { is_interruptible = true; }

InterruptibleWork::~InterruptibleWork() { is_interruptible = false; }

bool InterruptibleWork::is_requested() { return is_asked_to_end; }

void end_if_interrupted() {
  if (!is_asked_to_end) return;
  std::fflush(nullptr);
  die_of_signal();
}

}  // namespace ferry::cli
