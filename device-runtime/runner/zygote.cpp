#include "device-runtime/runner/zygote.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/format.h"
#include "device-runtime/broker/messages.h"
#include "device-runtime/runner/runner.h"
#include "device-runtime/runner/task.h"
#include "device-runtime/sandbox/sandbox.h"

namespace ferry::device {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kOwnMemory = 32 * kMiB, kThreadMemory = 10 * kMiB;

// How long a session must be silent before runners are started for its next measurement.
constexpr int kSilentMs = 3;

// The session may be ruled by a kernel, so that it is held to the limits here.
class ZygoteServer {
 public:
  ZygoteServer(int socket, std::uint64_t memory_limit, std::uint32_t threads)
      : socket_(socket), left_(memory_limit), threads_(threads) {}

  ZygoteReply start(std::uint64_t memory_bytes, Descriptor& session_end) {
    collect(WNOHANG);
    if (runners_.size() >= kMaxRunners || memory_bytes > left_) collect(0);
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
    reply.runner = runner.process;
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
    kill(runner, SIGKILL);
    found->is_killed = true;
    if (!waits) return reply;
    reply.wait_status = wait_for(runner, 0).value_or(0);
    forget(found);
    return reply;
  }

  // Whether a measurement has ended, and the next one would use more runners than wait for a task.
  bool wants_spare() const {
    return spares_.size() < wanted_ && std::ranges::all_of(runners_, &LivingRunner::is_killed);
  }

  // Starts a runner, which waits for the task of a later request.
  void add_spare() {
    collect(0);
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
  };

  static std::optional<int> wait_for(pid_t process, int options) {
    int status = 0;
    pid_t done = 0;
    do {
      done = waitpid(process, &status, options);
    } while (done < 0 && errno == EINTR);
    return done == process ? std::optional(status) : std::nullopt;
  }

  void forget(std::vector<LivingRunner>::iterator runner) {
    left_ += runner->memory_bytes;
    runners_.erase(runner);
  }

  // Takes notice of killed runners that are gone.
  void collect(int options) {
    for (std::size_t i = runners_.size(); i-- > 0;)
      if (runners_[i].is_killed && wait_for(runners_[i].process, options)) forget(runners_.begin() + i);
  }

  // Returns a value of errno.
  int take(RunnerProcess& runner) {
    while (!spares_.empty()) {
      runner = std::move(spares_.back());
      spares_.pop_back();
      if (!wait_for(runner.process, WNOHANG)) return 0;
    }
    return fork_runner(runner);
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
      run_runner(runner_end.number());
    }
    runner = {process, std::move(session_end)};
    return 0;
  }

  int socket_;
  std::uint64_t left_;
  std::uint32_t threads_;
  std::vector<LivingRunner> runners_;
  std::vector<RunnerProcess> spares_;
  std::size_t wanted_ = 0;  // as many spares as there were runners at a time
};

ZygoteReply answer(ZygoteServer& server, const ZygoteRequest& request, Descriptor& session_end) {
  switch (request.order) {
    case ZygoteOrder::start: return server.start(request.memory_bytes, session_end);
    case ZygoteOrder::end: return server.end(request.runner);
    case ZygoteOrder::kill: return server.end(request.runner, false);
  }
  return {EINVAL};
}

bool is_silent(int socket) {
  pollfd entry{socket, POLLIN, 0};
  return poll(&entry, 1, kSilentMs) == 0;
}

}  // namespace

bool can_isolate() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;  // the sanitizers' own system calls are many
#else
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#endif
}

void run_zygote(int socket, std::uint64_t memory_limit, std::uint32_t threads) {
  ZygoteServer server(socket, memory_limit, threads);
  ZygoteRequest request;
  std::vector<Descriptor> none;
  while (true) {
    while (server.wants_spare() && is_silent(socket)) server.add_spare();
    if (!receive_message(socket, writable_bytes_of(request), none)) break;
    none.clear();
    Descriptor session_end;
    const ZygoteReply reply = answer(server, request, session_end);
    const int sent[] = {session_end.number()};
    if (!send_message(socket, bytes_of(reply), std::span(sent).first(session_end.number() < 0 ? 0 : 1))) break;
  }
  _exit(0);
}

Result<RunnerProcess> Zygote::start_runner(std::uint64_t memory_bytes) const {
  ZygoteReply reply;
  std::vector<Descriptor> sockets;
  if (!ask({ZygoteOrder::start, 0, memory_bytes}, reply, sockets)) reply.error = EPIPE;
  if (reply.error == 0 && sockets.size() != 1) reply.error = EMFILE;
  if (reply.error != 0) {
    return Status(ErrorCode::resource_exhausted,
                  format("cannot start a process for the kernel: %s", std::strerror(reply.error)));
  }
  return RunnerProcess{reply.runner, std::move(sockets.front())};
}

bool Zygote::ask(const ZygoteRequest& request, ZygoteReply& reply, std::vector<Descriptor>& descriptors) const {
  return send_message(socket_.number(), bytes_of(request)) &&
         receive_message(socket_.number(), writable_bytes_of(reply), descriptors);
}

int Zygote::end_runner(pid_t process) const {
  ZygoteReply reply;
  std::vector<Descriptor> none;
  const bool is_answered = ask({ZygoteOrder::end, process, 0}, reply, none);
  return is_answered && reply.error == 0 ? reply.wait_status : -1;
}

void Zygote::kill_runner(pid_t process) const {
  ZygoteReply reply;
  std::vector<Descriptor> none;
  ask({ZygoteOrder::kill, process, 0}, reply, none);
}

}  // namespace ferry::device
