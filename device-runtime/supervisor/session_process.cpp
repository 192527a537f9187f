#include "device-runtime/supervisor/session_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "device-runtime/loader/loaded_code.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/session/crash_handler.h"
#include "device-runtime/supervisor/close_descriptors.h"
#include "device-runtime/supervisor/signal_name.h"
#include "device-runtime/threads/signal_stack.h"
#include "rpc/base/format.h"
#include "rpc/secure/secure_transport.h"
#include "rpc/transport/socket.h"

namespace ferry::device {
namespace {

constexpr int kSessionFailed = 70;

// When memory runs out the system must end the session, not the server.
void volunteer_for_the_memory_killer() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, "500", 3);
  close(file);
}

void become_session(pid_t parent) {
  // A key press in the server's terminal is the supervisor's to handle.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  for (const int number : {SIGINT, SIGTERM, SIGCHLD, SIGHUP}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  volunteer_for_the_memory_killer();
  // What a kernel reads or prints there is not the server's.
  if (const int nothing = open("/dev/null", O_RDWR); nothing >= 0) {
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
  }
}

double elapsed_ms(const Activity& activity) {
  return static_cast<double>(now_ns() - activity.started_ns.load()) * 1e-6;
}

std::string cause_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return signal_name(WTERMSIG(wait_status));
  return format("exit status %d", WEXITSTATUS(wait_status));
}

std::string short_name(const Hash& module) { return to_hex(module).substr(0, 12); }

// As addr2line wants it: the host knows the lines.
std::string place_of(const Crash& crash) {
  if (crash.signal.load() == 0) return {};
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  const std::string place = crash.module == Hash{}
                                ? "outside of any module"
                                : format("in module %s+0x%llx", short_name(crash.module).c_str(), number(crash.offset));
  return format(", at address 0x%llx, %s", number(crash.address), place.c_str());
}

Status failure_of_end(const Activity& activity, int wait_status) {
  const std::string cause = cause_of(wait_status);
  if (activity.in_kernel.load()) {
    return {ErrorCode::kernel_crashed,
            format("%s: the kernel ended the session with %s after %.1f ms%s", activity.function, cause.c_str(),
                   elapsed_ms(activity), place_of(activity.crash).c_str())};
  }
  const char* request = rpc::tag_name(activity.tag.load());
  const bool killed = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
  if (killed) {
    return {
        ErrorCode::resource_exhausted,
        format("the session was ended with SIGKILL during %s, perhaps because the board ran out of memory", request)};
  }
  return {ErrorCode::internal, format("the session ended with %s during %s", cause.c_str(), request)};
}

// The event ahead of the last frame; empty when no kernel ran.
std::vector<std::uint8_t> crash_frame(const Activity& activity, int wait_status, bool was_stopped) {
  if (!activity.in_kernel.load()) return {};
  rpc::CrashEvent event;
  event.request = activity.request.load();
  event.function = activity.function;
  event.printed = activity.printed.last();
  if (!was_stopped) event.signal = cause_of(wait_status);
  if (activity.crash.signal.load() != 0) {
    event.address = activity.crash.address;
    event.module = activity.crash.module;
    event.offset = activity.crash.offset;
  }
  return rpc::event_frame(rpc::EventTag::crash, event);
}

}  // namespace

Result<ActivityPage> ActivityPage::make() {
  void* page = mmap(nullptr, sizeof(Activity), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return Status(ErrorCode::resource_exhausted, format("no memory for a session: %s", std::strerror(errno)));
  }
  return ActivityPage(new (page) Activity);
}

ActivityPage::ActivityPage(ActivityPage&& other) noexcept : activity_(std::exchange(other.activity_, nullptr)) {}

ActivityPage::~ActivityPage() {
  if (activity_ != nullptr) munmap(activity_, sizeof(Activity));
}

Result<pid_t> start_session(const GreetedClient& client, const SessionOptions& options, Activity& activity) {
  const int descriptor = client.socket.number();
  if (client.secure) {
    activity.sealing.set(client.secure->sending);
    activity.encrypted = true;
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    return Status(ErrorCode::resource_exhausted, format("cannot start a session: %s", std::strerror(errno)));
  }
  if (child > 0) {
    // Here too: whoever comes first.
    setpgid(child, child);
    return child;
  }
  become_session(parent);
  close_descriptors_but(descriptor);
  auto transport = wrap_socket(descriptor);
  if (!transport.is_ok()) _exit(kSessionFailed);
  if (client.secure) {
    transport = secure::secure_transport(std::move(transport.value()), activity.sealing, client.secure->receiving);
  }
  auto missing = enter_sandbox(options.sandbox);
  if (!missing.is_ok()) _exit(kSessionFailed);
  const SignalStack signal_stack;
  note_crashes(activity);
  if (options.perf_map) LoadedCode::write_perf_map();
  SessionOptions confined = options;
  confined.facts.not_enforced = std::move(missing.value());
  run_session(std::move(transport.value()), confined, activity, {client.header, client.body});
  // Not exit(): the parent's objects are not this process's to destroy.
  _exit(0);
}

std::optional<int> reap_session(pid_t process) {
  siginfo_t info{};
  // Not yet taken from the system, the number still stands for this process and its group alone.
  if (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != process) {
    return std::nullopt;
  }
  kill(-process, SIGKILL);
  int status = 0;
  if (waitpid(process, &status, WNOHANG) != process) return std::nullopt;
  return status;
}

std::vector<std::uint8_t> last_frame(Activity& activity, int wait_status, const Status& over) {
  if (activity.sending.load()) return {};
  const std::uint64_t request = activity.request.load();
  const std::uint16_t tag = request == 0 ? 0 : activity.tag.load();
  const bool ended_well = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
  if (over.is_ok() && (ended_well || request == 0)) return {};
  std::vector<std::uint8_t> frames = crash_frame(activity, wait_status, !over.is_ok());
  const auto last = rpc::failure_frame(tag, request, over.is_ok() ? failure_of_end(activity, wait_status) : over);
  frames.insert(frames.end(), last.begin(), last.end());
  if (!activity.encrypted) return frames;
  auto records = secure::seal_all(activity.sealing, frames, true);
  return records.is_ok() ? std::move(records.value()) : std::vector<std::uint8_t>();
}

std::string describe_end(const Activity& activity, int wait_status) {
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) return "ended";
  if (activity.request.load() == 0) return "ended with " + cause_of(wait_status);
  return failure_of_end(activity, wait_status).message();
}

}  // namespace ferry::device
