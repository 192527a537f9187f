#include "host/cli/options/program_keeper.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace ferry::cli {

namespace {

static_assert(kEndAtOnce == SIGUSR1);
// Sent when the parent dies.
constexpr int kParentDied = SIGUSR2;
// How long programs may take to end after the parent's death.
constexpr time_t kGraceSeconds = 10;

void keep_only(int descriptor) {
#ifdef __NR_close_range
  if (syscall(__NR_close_range, 3, descriptor - 1, 0) == 0 && syscall(__NR_close_range, descriptor + 1, ~0u, 0) == 0)
    return;
#endif
  for (int number = 3; number < 65536; ++number)
    if (number != descriptor) close(number);
}

pid_t parent_of(const char* process) {
  char path[64], text[512];
  std::snprintf(path, sizeof path, "/proc/%.32s/stat", process);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  const std::size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[size] = 0;
  // The name before may contain anything.
  const char* name_end = std::strrchr(text, ')');
  long parent = 0;
  char state = 0;
  return name_end != nullptr && std::sscanf(name_end + 1, " %c %ld", &state, &parent) == 2 ? static_cast<pid_t>(parent)
                                                                                           : 0;
}

// Sends a signal to all children of this process, which are also those whose parents have ended.
void signal_children(int number) {
  const pid_t self = getpid();
  DIR* processes = opendir("/proc");
  if (processes == nullptr) return;
  while (const dirent* entry = readdir(processes)) {
    char* end = nullptr;
    const long process = std::strtol(entry->d_name, &end, 10);
    if (process > 1 && *end == 0 && parent_of(entry->d_name) == self) kill(static_cast<pid_t>(process), number);
  }
  closedir(processes);
}

// Returns false if there are no children left. `child` is one of them: its status is kept.
bool reap(pid_t child, int& status, bool& has_ended) {
  for (int one = 0;;) {
    const pid_t process = waitpid(-1, &one, WNOHANG);
    if (process <= 0) return process == 0;
    if (process != child) continue;
    status = one;
    has_ended = true;
  }
}

// Ends the program and what it has started.
[[noreturn]] void end_all(pid_t child, bool is_patient) {
  const timespec pause{0, 20'000'000};
  const time_t begin = std::time(nullptr);
  int status = 0;
  bool has_ended = false, is_told = false;
  while (reap(child, status, has_ended)) {
    const bool is_over = !is_patient || std::time(nullptr) - begin >= kGraceSeconds;
    // The program first: it may want to end in order. What is left of it comes later.
    if (is_over || has_ended) {
      signal_children(is_over ? SIGKILL : SIGTERM);
    } else if (!is_told) {
      kill(child, SIGTERM);
      is_told = true;
    }
    nanosleep(&pause, nullptr);
  }
  _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace

void keep_program(char* const* arguments, int failure, pid_t parent) {
  sigset_t before, awaited;
  sigemptyset(&awaited);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, kEndAtOnce, kParentDied}) sigaddset(&awaited, number);
  sigprocmask(SIG_BLOCK, &awaited, &before);
  prctl(PR_SET_PDEATHSIG, kParentDied);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (getppid() != parent) _exit(1);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);  // ferry ignores it
    sigprocmask(SIG_SETMASK, &before, nullptr);
    execvp(arguments[0], arguments);
  }
  if (child <= 0) {
    const int error = errno;
    [[maybe_unused]] const ssize_t ignored = write(failure, &error, sizeof error);
    _exit(1);
  }
  // Connections must close, so that their other ends notice that ferry has ended.
  keep_only(failure);
  close(failure);
  while (true) {
    siginfo_t info{};
    const int number = sigwaitinfo(&awaited, &info);
    if (getppid() != parent) end_all(child, true);
    if (number == kEndAtOnce) end_all(child, false);
    if (number == SIGCHLD) {
      int status = 0;
      bool has_ended = false;
      reap(child, status, has_ended);
      if (has_ended) _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
    const bool is_passed_on = number == SIGINT || number == SIGTERM || number == SIGHUP;
    if (is_passed_on && info.si_code != SI_KERNEL) kill(child, number);
  }
}

}  // namespace ferry::cli
