#include "device-runtime/supervisor/session_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "device-runtime/loader/loaded_code.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/runner/zygote_server.h"
#include "device-runtime/session/crash_handler.h"
#include "device-runtime/supervisor/child_process.h"
#include "device-runtime/supervisor/freed_memory.h"
#include "device-runtime/supervisor/signal_name.h"
#include "device-runtime/threads/signal_stack.h"
#include "rpc/secure/secret.h"
#include "rpc/secure/secure_transport.h"
#include "rpc/transport/socket.h"

namespace ferry::device {
namespace {

constexpr int kSessionFailed = 70;

void become_session(pid_t parent, int errors) {
  // A key press in the server's terminal must signal only the supervisor, and what a session sets for its autogroup
  // must not apply to the supervisor and to other sessions.
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  reset_signals();
  // Kernels must not use the server's standard input and output.
  if (const int nothing = open("/dev/null", O_RDWR); nothing >= 0) {
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    if (errors < 0) errors = nothing;
  }
  // The server's own standard error may be a user's terminal, so it is not shared.
  if (errors < 0 || dup2(errors, STDERR_FILENO) < 0) close(STDERR_FILENO);
}

// Forks the process that starts the session's runners, which forgets what this one knows. Returns the socket for it.
Descriptor start_zygote(const SessionOptions& options, const ActivityPage& page, server::SecretMemory& secrets,
                        server::SecureEnds& own) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return {};
  const pid_t session = getpid();
  const pid_t zygote = fork();
  if (zygote != 0) {
    close(ends[1]);
    if (zygote > 0) return Descriptor(ends[0]);
    close(ends[0]);
    return {};
  }
  own = server::SecureEnds();
  secure::wipe_stack();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != session || !secrets.unmap() || !page.forget()) _exit(kSessionFailed);
  wipe_freed_memory(false);
  close_descriptors_but({ends[1]});
  SandboxOptions sandbox = options.sandbox;
  sandbox.filter = Filter::none;
  if (!enter_sandbox(sandbox).is_ok()) _exit(kSessionFailed);
  run_zygote(ends[1], options.sandbox.memory_bytes, options.sandbox.threads);
}

const char* why_not_isolated(const SessionOptions& options) {
  if (options.sandbox.filter == Filter::gpu) return "the session has a GPU";
  if (options.sandbox.inspectable) return "a debugger or profiler looks for kernels in the session's own process";
  return "the device's system does not confine processes (seccomp, Linux 4.14)";
}

double elapsed_ms(const SeenActivity& seen) { return static_cast<double>(now_ns() - seen.started_ns) * 1e-6; }

std::string cause_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return signal_name(WTERMSIG(wait_status));
  return format("exit status %d", WEXITSTATUS(wait_status));
}

std::string short_name(const Hash& module) { return to_hex(module).substr(0, 12); }

// Formats the location for addr2line: the host knows the line numbers.
std::string place_of(const Crash& crash) {
  if (crash.signal.load() == 0) return {};
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  const std::string place = crash.module == Hash{}
                                ? "outside of any module"
                                : format("in module %s+0x%llx", short_name(crash.module).c_str(), number(crash.offset));
  return format(", at address 0x%llx, %s", number(crash.address), place.c_str());
}

Status failure_of_end(const EndedSession& session) {
  if (!session.over.is_ok()) return session.over;
  const SeenActivity& seen = session.seen;
  if (seen.is_damaged) return damaged_activity();
  const std::string cause = cause_of(session.wait_status);
  if (seen.in_kernel) {
    return {ErrorCode::kernel_crashed,
            format("%s: the kernel ended the session with %s after %.1f ms%s", seen.function.c_str(), cause.c_str(),
                   elapsed_ms(seen), place_of(session.activity.crash).c_str())};
  }
  const char* request = rpc::tag_name(seen.tag);
  const bool killed = WIFSIGNALED(session.wait_status) && WTERMSIG(session.wait_status) == SIGKILL;
  if (killed) {
    return {
        ErrorCode::resource_exhausted,
        format("the session was ended with SIGKILL during %s, perhaps because the board ran out of memory", request)};
  }
  return {ErrorCode::internal, format("the session ended with %s during %s", cause.c_str(), request)};
}

// Returns the event that precedes the last frame; empty if no kernel was running.
std::vector<std::uint8_t> crash_frame(const EndedSession& session) {
  if (!session.seen.in_kernel) return {};
  const Crash& crash = session.activity.crash;
  rpc::CrashEvent event;
  event.request = session.seen.request;
  event.function = session.seen.function;
  event.printed = session.activity.printed.last();
  if (session.over.is_ok()) event.signal = cause_of(session.wait_status);
  if (crash.signal.load() != 0) {
    event.address = crash.address;
    event.module = crash.module;
    event.offset = crash.offset;
  }
  return rpc::event_frame(rpc::EventTag::crash, event);
}

std::vector<std::uint8_t> final_frames(const EndedSession& session) {
  const SeenActivity& seen = session.seen;
  const std::uint16_t tag = seen.request == 0 ? 0 : seen.tag;
  std::vector<std::uint8_t> frames;
  if (session.limit) frames = rpc::event_frame(rpc::EventTag::limit, *session.limit);
  const std::vector<std::uint8_t> crash = crash_frame(session);
  frames.insert(frames.end(), crash.begin(), crash.end());
  const auto last = rpc::failure_frame(tag, seen.request, failure_of_end(session));
  frames.insert(frames.end(), last.begin(), last.end());
  return frames;
}

// Continues after the records that the session has sent, or seals nothing: no record number is used twice, whatever the
// session reports.
std::vector<std::uint8_t> sealed_as_last(const std::vector<std::uint8_t>& frames, const SeenActivity& seen,
                                         server::SecureEnds& secure) {
  if (!seen.sealed || *seen.sealed < secure.sending.next) return {};
  secure.sending.next = *seen.sealed;
  auto records = secure::seal_all(secure.sending, frames, true);
  return records.is_ok() ? std::move(records.value()) : std::vector<std::uint8_t>();
}

}  // namespace

Result<pid_t> start_session(const server::HandshakenClient& client, const SessionOptions& options,
                            const ActivityPage& page, server::SecretMemory& secrets, const MemoryKiller& killer,
                            const SessionEnds& ends) {
  const int descriptor = client.socket.number();
  Activity& activity = page.activity();
  server::SecureEnds own;
  if (client.secure) {
    own = *client.secure;
    own.sending.published = &activity.sealed;
    activity.sealed.set(own.sending.next);
  }
  const pid_t parent = getpid();
  // The child shares the pipe to which the server's handlers write. Until it has left them, its signals must wait.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t child = killer.fork_session();
  if (child != 0) {
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (child > 0) return child;
    return Status(ErrorCode::resource_exhausted, format("cannot start a session: %s", std::strerror(error)));
  }
  become_session(parent, ends.errors);
  Descriptor zygote;
  if (ends.memory >= 0) zygote = start_zygote(options, page, secrets, own);
  if (!secrets.unmap() || !page.keep_alone()) _exit(kSessionFailed);
  wipe_freed_memory(false);
  close_descriptors_but({descriptor, ends.files, ends.memory, zygote.number()});
  auto transport = wrap_socket(descriptor);
  if (!transport.is_ok()) _exit(kSessionFailed);
  if (client.secure) {
    transport = secure::secure_transport(std::move(transport.value()), own.sending, own.receiving);
  }
  std::unique_ptr<SharedMemory> memory;
  if (ends.memory >= 0) {
    memory =
        std::make_unique<SharedMemory>(Descriptor(ends.memory), shared_object_bytes(options.facts.memory_limit_bytes));
  }
  SessionAccess access{FileBroker(Descriptor(ends.files), ends.largest_files),
                       SessionFiles::open(),
                       {Zygote(std::move(zygote)), std::move(memory), why_not_isolated(options)}};
  if (options.perf_map) LoadedCode::open_perf_map();
  auto missing = enter_sandbox(options.sandbox);
  if (!missing.is_ok()) _exit(kSessionFailed);
  const SignalStack signal_stack;
  note_crashes(activity);
  SessionOptions confined = options;
  confined.facts.not_enforced = std::move(missing.value());
  run_session(std::move(transport.value()), confined, std::move(access), activity, {client.header, client.body});
  // _exit() instead of exit(), which would destroy objects that belong to the parent.
  _exit(0);
}

void signal_session(pid_t process, int signal) {
  // A process that has no group yet has no children either.
  if (kill(-process, signal) != 0) kill(process, signal);
}

std::optional<int> reap_session(pid_t process) {
  siginfo_t info{};
  // Until the child has been reaped, its id refers only to this process and its group.
  if (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != process) {
    return std::nullopt;
  }
  kill(-process, SIGKILL);
  int status = 0;
  if (waitpid(process, &status, WNOHANG) != process) return std::nullopt;
  return status;
}

std::vector<std::uint8_t> last_frame(const EndedSession& session, server::SecureEnds* secure) {
  const SeenActivity& seen = session.seen;
  if (seen.sending) return {};
  const bool has_failed = !session.over.is_ok() || seen.is_damaged;
  // A session that ends by itself has answered all requests.
  if (!has_failed && seen.request == 0) return {};
  const std::vector<std::uint8_t> frames = final_frames(session);
  if (secure == nullptr) return frames;
  return secure::wiping_stack([&] { return sealed_as_last(frames, seen, *secure); });
}

bool ended_well(const EndedSession& session) {
  return session.over.is_ok() && !session.seen.is_damaged && session.seen.request == 0 &&
         WIFEXITED(session.wait_status) && WEXITSTATUS(session.wait_status) == 0;
}

std::string describe_end(const EndedSession& session) {
  if (!session.over.is_ok()) return session.over.message();
  if (session.seen.is_damaged || session.seen.request != 0) return failure_of_end(session).message();
  return ended_well(session) ? "ended" : "ended with " + cause_of(session.wait_status);
}

std::string describe_failure(const EndedSession& session) {
  // Without its client, a session fails to send; what ends it with a signal is still a crash.
  const bool is_left = session.client_left && (!session.over.is_ok() || !WIFSIGNALED(session.wait_status));
  if (ended_well(session) || is_left) return {};
  std::string text = describe_end(session);
  const std::string printed = session.seen.in_kernel ? session.activity.printed.last() : std::string();
  if (!printed.empty()) text += "\nIt had printed:\n" + printed;
  return text;
}

}  // namespace ferry::device
