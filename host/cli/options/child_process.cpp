#include "host/cli/options/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/exec_words.h"
#include "ferry/error.h"
#include "host/cli/options/program_keeper.h"

namespace ferry::cli {

namespace {

constexpr std::array kForwarded{SIGINT, SIGTERM, SIGHUP};

// For the handler: the program's keeper, 0 before it is started, and a signal that came before that.
std::atomic<pid_t> forward_to = 0;
std::atomic<int> came_early = 0;
std::array<struct sigaction, kForwarded.size()> handlers_before;

void forward(int number, siginfo_t* info, void*) {
  // The terminal sends a signal to all processes in its foreground.
  if (info->si_code == SI_KERNEL) return;
  const int error = errno;
  if (const pid_t process = forward_to; process > 0) {
    kill(process, number);
  } else {
    came_early = number;
  }
  errno = error;
}

void begin_forwarding() {
  struct sigaction action{};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (std::size_t i = 0; i < kForwarded.size(); ++i) {
    sigaction(kForwarded[i], nullptr, &handlers_before[i]);
    if (handlers_before[i].sa_handler != SIG_IGN) sigaction(kForwarded[i], &action, nullptr);
  }
}

void end_forwarding() {
  for (std::size_t i = 0; i < kForwarded.size(); ++i) sigaction(kForwarded[i], &handlers_before[i], nullptr);
  forward_to = 0;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& words) {
  const std::vector<char*> arguments = exec_words(words);
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) throw UsageError("cannot run " + words.front() + ": " + std::strerror(errno));
  const Descriptor told(failure[0]);
  begin_forwarding();
  const pid_t parent = getpid();
  process_ = fork();
  int error = process_ < 0 ? errno : 0;
  if (process_ == 0) {
    end_forwarding();
    keep_program(arguments.data(), failure[1], parent);
  }
  close(failure[1]);
  if (process_ > 0 && read(told.number(), &error, sizeof error) != sizeof error) error = 0;
  if (error != 0) {
    end_forwarding();
    if (process_ > 0) waitpid(process_, nullptr, 0);
    process_ = -1;
    throw UsageError("cannot run " + words.front() + ": " + std::strerror(error));
  }
  forward_to = process_;
  if (const int number = came_early.exchange(0); number != 0) kill(process_, number);
}

ChildProcess::~ChildProcess() {
  if (!has_ended()) {
    send(SIGKILL);
    wait();
  }
  end_forwarding();
}

int ChildProcess::wait() {
  siginfo_t info;
  while (waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  // From here on its number may be another process's.
  const std::lock_guard lock(mutex_);
  forward_to = 0;
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  // The keeper's own; the program's is its exit code.
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void ChildProcess::send(int signal) {
  const std::lock_guard lock(mutex_);
  if (process_ > 0) kill(process_, signal == SIGKILL ? kEndAtOnce : signal);
}

bool ChildProcess::has_ended() const {
  const std::lock_guard lock(mutex_);
  return process_ < 0;
}

}  // namespace ferry::cli
