#include "device-runtime/runner/zygote_server.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "device-runtime/broker/messages.h"
#include "device-runtime/runner/runner.h"
#include "device-runtime/runner/task.h"
#include "device-runtime/runner/zygote.h"
#include "device-runtime/sandbox/sandbox.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kOwnMemory = 32 * kMiB, kThreadMemory = 10 * kMiB;

// How long a session must be silent before runners are started for its next measurement.
constexpr int kSilentMs = 3;

bool may_run_on(cpu_set_t& cores) { return sched_getaffinity(0, sizeof cores, &cores) == 0; }

// The session may be ruled by a kernel, so that it is held to the limits here.
class ZygoteServer {
 public:
  ZygoteServer(int socket, std::uint64_t memory_limit, std::uint32_t threads)
      : socket_(socket), left_(memory_limit), threads_(threads), knows_cores_(may_run_on(cores_)) {}

  ZygoteReply start(std::uint64_t memory_bytes, Descriptor& session_end) {
    forget_killed(WNOHANG);
    if (runners_.size() >= kMaxRunners || memory_bytes > left_) forget_killed(0);
    ZygoteReply reply;
    reply.error = runners_.size() >= kMaxRunners ? EAGAIN : memory_bytes > left_ ? ENOMEM : 0;
    RunnerProcess runner;
    if (reply.error == 0) reply.error = take(runner);
    if (reply.error != 0) return reply;
    runners_.push_back({runner.process, memory_bytes});
    left_ -= memory_bytes;
    if (!limit_resource(RLIMIT_DATA, kOwnMemory + threads_ * kThreadMemory + memory_bytes, runner.process)) {
      end(runner.process);
      reply.error = EPERM;
      return reply;
    }
    wanted_ = std::max(wanted_, runners_.size());
    reply.process = runner.process;
    session_end = std::move(runner.socket);
    return reply;
  }

  ZygoteReply end(pid_t runner, bool waits = true) {
    ZygoteReply reply;
    const auto found = std::ranges::find(runners_, runner, &LivingRunner::process);
    if (found == runners_.end() || found->is_killed) {
      reply.error = ESRCH;
      return reply;
    }
    // Once a process has been waited for, its number may be another's.
    if (!found->wait_status) kill(runner, SIGKILL);
    found->is_killed = true;
    stopped_.clear();  // all others are at rest
    if (!waits) return reply;
    while (!found->wait_status && take_notice(0)) {
    }
    reply.wait_status = found->wait_status.value_or(0);
    forget(found);
    return reply;
  }

  ZygoteReply trace(pid_t runner, std::int32_t core) {
    ZygoteReply reply;
    constexpr unsigned long kOptions = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    const auto found = std::ranges::find(runners_, runner, &LivingRunner::process);
    const bool is_there = found != runners_.end() && !found->wait_status;
    if (!is_there || ptrace(PTRACE_SEIZE, runner, nullptr, kOptions) != 0) reply.error = EPERM;
    if (reply.error == 0 && core >= 0) stay_on(core);
    return reply;
  }

  static void go_on(pid_t thread, int signal = 0) {
    if (thread > 0) ptrace(PTRACE_CONT, thread, nullptr, static_cast<long>(signal));
  }

  ZygoteReply wait_for_stop(pid_t runner) {
    ZygoteReply reply;
    const auto found = std::ranges::find(runners_, runner, &LivingRunner::process);
    while (stopped_.empty()) {
      if (found != runners_.end() && !found->wait_status && take_notice(0)) continue;
      reply.error = ESRCH;
      return reply;
    }
    reply.process = stopped_.back();
    stopped_.pop_back();
    return reply;
  }

  // Whether a measurement has ended, and the next one would use more runners than wait for a task.
  bool wants_spare() const {
    return spares_.size() < wanted_ && std::ranges::all_of(runners_, &LivingRunner::is_killed);
  }

  // Starts a runner, which waits for the task of a later request.
  void add_spare() {
    forget_killed(0);
    RunnerProcess spare;
    if (fork_runner(spare) != 0) {
      wanted_ = 0;
    } else {
      spares_.push_back(std::move(spare));
    }
  }

 private:
  struct LivingRunner {
    pid_t process = 0;
    std::uint64_t memory_bytes = 0;
    bool is_killed = false;
    std::optional<int> wait_status = std::nullopt;  // it has ended
  };

  // Takes notice of the next thing that happens to a process below this one. Returns false if there is none, or nothing
  // has happened and the options say not to wait.
  bool take_notice(int options) {
    int status = 0;
    pid_t thread = 0;
    do {
      thread = waitpid(-1, &status, options | __WALL);
    } while (thread < 0 && errno == EINTR);
    if (thread <= 0) return false;
    if (WIFSTOPPED(status)) {
      note_stop(thread, status);
      return true;
    }
    // A thread that is traced ends on its own account, before the first one of its process.
    std::erase_if(spares_, [thread](const RunnerProcess& spare) { return spare.process == thread; });
    const auto found = std::ranges::find(runners_, thread, &LivingRunner::process);
    if (found != runners_.end()) found->wait_status = status;
    return true;
  }

  // Only threads that are traced stop.
  void note_stop(pid_t thread, int status) {
    switch (status >> 16) {
      case PTRACE_EVENT_SECCOMP: stopped_.push_back(thread); return;
      case 0: return go_on(thread, WSTOPSIG(status));  // it receives a signal
      default: return go_on(thread);                   // a thread that was started, or has started one
    }
  }

  void forget(std::vector<LivingRunner>::iterator runner) {
    left_ += runner->memory_bytes;
    runners_.erase(runner);
  }

  // Forgets killed runners that are gone; waits until they are, unless the options say not to.
  void forget_killed(int options) {
    const auto is_left = [](const LivingRunner& runner) { return runner.is_killed && !runner.wait_status; };
    while (std::ranges::any_of(runners_, is_left) && take_notice(options)) {
    }
    for (std::size_t i = runners_.size(); i-- > 0;)
      if (runners_[i].is_killed && runners_[i].wait_status) forget(runners_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  // Returns a value of errno.
  int take(RunnerProcess& runner) {
    while (!spares_.empty() && take_notice(WNOHANG)) {
    }
    if (spares_.empty()) return fork_runner(runner);
    runner = std::move(spares_.back());
    spares_.pop_back();
    return 0;
  }

  int fork_runner(RunnerProcess& runner) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    Descriptor session_end(ends[0]);
    const Descriptor runner_end(ends[1]);
    const pid_t zygote = getpid(), process = fork();
    if (process < 0) return errno;
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != zygote) _exit(0);
      close(socket_);
      session_end = Descriptor();
      spares_.clear();
      if (knows_cores_) sched_setaffinity(0, sizeof cores_, &cores_);
      run_runner(runner_end.number());
    }
    runner = {process, std::move(session_end)};
    return 0;
  }

  int socket_;
  std::uint64_t left_;
  std::uint32_t threads_;
  cpu_set_t cores_{};  // where this process was allowed to run before it stayed on one
  bool knows_cores_;
  std::vector<LivingRunner> runners_;
  std::vector<RunnerProcess> spares_;
  std::size_t wanted_ = 0;      // as many spares as there were runners at a time
  std::vector<pid_t> stopped_;  // threads of which the session does not know yet
};

// Returns false if there is no answer.
bool answer(ZygoteServer& server, const ZygoteRequest& request, ZygoteReply& reply, Descriptor& session_end) {
  switch (request.order) {
    case ZygoteOrder::start: reply = server.start(request.memory_bytes, session_end); return true;
    case ZygoteOrder::end: reply = server.end(request.runner); return true;
    case ZygoteOrder::kill: reply = server.end(request.runner, false); return true;
    case ZygoteOrder::trace: reply = server.trace(request.runner, request.core); return true;
    case ZygoteOrder::go_on: server.go_on(request.thread); return false;
    case ZygoteOrder::wait:
      server.go_on(request.thread);
      reply = server.wait_for_stop(request.runner);
      return true;
  }
  reply.error = EINVAL;
  return true;
}

bool is_silent(int socket) {
  pollfd entry{socket, POLLIN, 0};
  return poll(&entry, 1, kSilentMs) == 0;
}

}  // namespace

void run_zygote(int socket, std::uint64_t memory_limit, std::uint32_t threads) {
  ZygoteServer server(socket, memory_limit, threads);
  ZygoteRequest request;
  std::vector<Descriptor> none;
  while (true) {
    while (server.wants_spare() && is_silent(socket)) server.add_spare();
    if (!receive_message(socket, writable_bytes_of(request), none)) break;
    none.clear();
    Descriptor session_end;
    ZygoteReply reply;
    if (!answer(server, request, reply, session_end)) continue;
    const int sent[] = {session_end.number()};
    if (!send_message(socket, bytes_of(reply), std::span(sent).first(session_end.number() < 0 ? 0 : 1))) break;
  }
  _exit(0);
}

}  // namespace ferry::device
