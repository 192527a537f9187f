#include "crosscompile/confine/run_confined.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>

#include "base/exec_words.h"
#include "crosscompile/confine/call_filter.h"
#include "ferry/error.h"

namespace ferry::confine {
namespace {

constexpr rlim_t kMaxFiles = 256;
// Processes that the program may start besides those that run on this machine already.
constexpr rlim_t kMaxProcesses = 256;
// Root's rights to read files that belong to others.
constexpr unsigned kKeptCapabilities[] = {1, 2};
constexpr unsigned kMaxCapability = 63;

// What the processes that are forked from this one tell it. The texts are literals, at the same place in all of them.
struct Report {
  int status = 0;
  bool is_late = false, has_ended = false, is_missing = false;
  const char* failure = nullptr;
  int error = 0;
};

struct Unmap {
  void operator()(Report* report) const { munmap(report, sizeof *report); }
};

// All that the forked processes need, who must not allocate memory before they do the work.
struct Prepared {
  std::vector<char*> arguments, variables;
  std::optional<FileRules> rules;
  bool has_filter = false;
  rlim_t processes = RLIM_INFINITY;
  Report* report = nullptr;
};

[[noreturn]] void fail_to(const char* what) {
  throw Error(ErrorCode::unavailable, std::string("cannot ") + what + ": " + std::strerror(errno));
}

// Limits the processes of this user to those that exist now, of whatever user, and a few more.
rlim_t most_processes() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/loadavg", "re"), std::fclose);
  unsigned long all = 0;
  if (file == nullptr || std::fscanf(file.get(), "%*s %*s %*s %*u/%lu", &all) != 1) return RLIM_INFINITY;
  return all + kMaxProcesses;
}

// The hard limit may be larger, for a limit whose signal comes earlier than the end.
void limit(int resource, rlim_t value, rlim_t beyond = 0) {
  rlimit now{};
  getrlimit(static_cast<__rlimit_resource>(resource), &now);
  const rlimit wanted{std::min(value, now.rlim_max),
                      std::min(value == RLIM_INFINITY ? value : value + beyond, now.rlim_max)};
  setrlimit(static_cast<__rlimit_resource>(resource), &wanted);
}

void close_others() {
#ifdef __NR_close_range
  if (syscall(__NR_close_range, 3, ~0u, 0) == 0) return;
#endif
  for (int number = 3; number < 65536; ++number) close(number);
}

[[noreturn]] void fail(Report& report, const char* failure) {
  report.error = errno;
  report.failure = failure;
  _exit(1);
}

// Becomes the program.
[[noreturn]] void become(const ConfinedProgram& program, const Prepared& prepared, pid_t guard) {
  Report& report = *prepared.report;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guard) _exit(1);
  setsid();
  const int streams[] = {open("/dev/null", O_RDONLY),
                         open(program.output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600),
                         open(program.error_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)};
  for (int stream = 0; stream < 3; ++stream)
    if (dup2(streams[stream], stream) < 0) fail(report, "opening its output");
  sigset_t none;
  sigemptyset(&none);
  for (const int signal : {SIGPIPE, SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGCHLD}) std::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // It is the first to go when memory is short.
  if (const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
    [[maybe_unused]] const ssize_t ignored = write(score, "1000", 4);
    close(score);
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, kMaxFiles);
  limit(RLIMIT_FSIZE, program.file_bytes);
  limit(RLIMIT_NPROC, prepared.processes);
  limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(program.deadline)) + 1, 1);
  if (program.memory_bytes != 0) limit(RLIMIT_AS, program.memory_bytes);
  // Root keeps few of its rights, and nobody gains any.
  for (unsigned capability = 0; capability <= kMaxCapability; ++capability)
    if (std::ranges::find(kKeptCapabilities, capability) == std::end(kKeptCapabilities))
      prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail(report, "giving up privileges");
  if (prepared.rules) {
    if (program.reads_own_process && !prepared.rules->add_readable("/proc/self"))
      fail(report, "confining it with Landlock");
    if (!prepared.rules->apply()) fail(report, "confining it with Landlock");
  }
  if (prepared.has_filter && !install_call_filter()) fail(report, "confining it with seccomp");
  close_others();
  if (program.work) _exit(program.work());
  execvpe(prepared.arguments[0], prepared.arguments.data(), prepared.variables.data());
  report.is_missing = errno == ENOENT || errno == ENOTDIR;
  fail(report, "starting it");
}

timespec remaining_until(const timespec& end) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  timespec left{end.tv_sec - now.tv_sec, end.tv_nsec - now.tv_nsec};
  if (left.tv_nsec < 0) {
    left.tv_nsec += 1'000'000'000;
    --left.tv_sec;
  }
  if (left.tv_sec < 0) left = {};
  return left;
}

timespec end_after(double seconds) {
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double whole = std::floor(seconds);
  end.tv_sec += static_cast<time_t>(whole);
  end.tv_nsec += static_cast<long>((seconds - whole) * 1e9);
  if (end.tv_nsec >= 1'000'000'000) {
    end.tv_nsec -= 1'000'000'000;
    ++end.tv_sec;
  }
  return end;
}

// Starts the program and waits for its end, in a process of its own: so the deadline does not depend on the program,
// and what it has started ends with it, even if this process's parent is killed.
[[noreturn]] void guard(const ConfinedProgram& program, const Prepared& prepared, pid_t parent) {
  Report& report = *prepared.report;
  sigset_t all, awaited;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  std::signal(SIGCHLD, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (getppid() != parent) _exit(1);
  const timespec end = end_after(program.deadline);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child < 0) fail(report, "starting it");
  if (child == 0) become(program, prepared, self);
  close_others();
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGTERM);
  bool is_told_to_end = false;
  while (!report.has_ended && !is_told_to_end && !report.is_late) {
    const timespec left = remaining_until(end);
    const int signal = sigtimedwait(&awaited, nullptr, &left);
    if (signal < 0 && errno == EAGAIN) report.is_late = true;
    is_told_to_end = signal == SIGTERM;
    // It stays a zombie, so that its number remains that of its group.
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid == child) {
      report.has_ended = true;
      report.is_late = false;
    }
  }
  // The program makes its group itself, first of all.
  if (!report.has_ended) kill(child, SIGKILL);
  kill(-child, SIGKILL);
  waitpid(child, &report.status, 0);
  while (waitpid(-child, nullptr, 0) > 0) {
  }
  _exit(0);
}

}  // namespace

ProgramEnd run_confined(const ConfinedProgram& program) {
  Prepared prepared;
  prepared.arguments = exec_words(program.words);
  prepared.variables = exec_words(program.environment);
  if (landlock::version() > 0) prepared.rules.emplace(program.files);
  prepared.has_filter = has_call_filter();
  prepared.processes = most_processes();
  void* page = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) fail_to("map a page");
  const std::unique_ptr<Report, Unmap> report(new (page) Report);
  prepared.report = report.get();
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) fail_to("start a process");
  if (process == 0) guard(program, prepared, parent);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  ProgramEnd end;
  end.is_missing = report->is_missing;
  if (report->is_missing) return end;
  if (report->failure != nullptr)
    throw Error(ErrorCode::unavailable,
                "cannot run " + program.words[0] + ": " + report->failure + ": " + std::strerror(report->error));
  end.is_late = report->is_late;
  if (!report->has_ended) {
    end.code = 128 + SIGKILL;
  } else if (WIFEXITED(report->status)) {
    end.code = WEXITSTATUS(report->status);
  } else {
    end.code = 128 + WTERMSIG(report->status);
    end.is_late = WTERMSIG(report->status) == SIGXCPU;
  }
  return end;
}

std::vector<std::string> missing_restrictions() {
  std::vector<std::string> missing;
  if (landlock::version() == 0) missing.emplace_back("this kernel has no Landlock");
  if (!has_call_filter()) missing.emplace_back("this kernel has no seccomp filters");
  return missing;
}

}  // namespace ferry::confine
