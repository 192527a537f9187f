#include "tests/fuzz/cases/limited.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/interpreter.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <ctime>

#include <cstring>

namespace ferry::fuzz {

namespace {

constexpr int kPollMilliseconds = 5000;
constexpr const char* kBeyondMemory = "memory";  // in place of a failure's kind

std::string told_by(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const Failure& failure) {
    return failure.kind() + '\n' + failure.what();
  } catch (const ir::InterpreterLimit& error) {
    return std::string(kBeyondMemory) + '\n' + error.what();
  } catch (const ir::InterpreterError& error) {
    return std::string("interpreter\n") + error.what();
  } catch (const InternalError& error) {
    return std::string("internal\n") + error.what();
  } catch (const std::exception& error) {
    return std::string("error\n") + error.what();
  }
}

[[noreturn]] void run_in_child(int pipe, int seconds, const std::function<void()>& work) {
  // A test framework's signal handlers would otherwise report a failure on behalf of this process.
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS, SIGTERM}) std::signal(signal, SIG_DFL);
  // End with the parent, since nobody waits for this process once the case is over.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit limit{static_cast<rlim_t>(seconds), static_cast<rlim_t>(seconds) + 1};
  setrlimit(RLIMIT_CPU, &limit);
  const std::string told = told_by(work);
  std::size_t written = 0;
  while (written < told.size()) {
    const ssize_t count = write(pipe, told.data() + written, told.size() - written);
    if (count <= 0) _exit(3);
    written += static_cast<std::size_t>(count);
  }
  _exit(0);
}

double processor_seconds_of(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

bool within_limit(int processor_seconds, const std::function<void()>& work, const std::function<void()>& is_alive) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    run_in_child(ends[1], processor_seconds, work);
  }
  close(ends[1]);
  std::string told;
  double before = 0;
  while (true) {
    pollfd ready{ends[0], POLLIN, 0};
    if (poll(&ready, 1, kPollMilliseconds) == 0) {
      const double now = processor_seconds_of(child);
      if (now > before) is_alive();
      before = now;
      continue;
    }
    char buffer[4096];
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    if (count <= 0) break;
    told.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL) return false;
    throw Failure("crash", strsignal(WTERMSIG(status)));
  }
  if (told.empty()) return true;
  const std::size_t end = told.find('\n');
  if (told.substr(0, end) == kBeyondMemory) return false;
  throw Failure(told.substr(0, end), told.substr(end + 1));
}

}  // namespace ferry::fuzz
