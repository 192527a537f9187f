#include "device-runtime/runner/zygote.h"

#include <linux/seccomp.h>
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

struct LivingRunner {
  pid_t process = 0;
  std::uint64_t memory_bytes = 0;
};

// The session may be ruled by a kernel, so that it is held to the limits here.
class ZygoteServer {
 public:
  ZygoteServer(int socket, std::uint64_t memory_limit, std::uint32_t threads)
      : socket_(socket), left_(memory_limit), threads_(threads) {}

  ZygoteReply start(std::uint64_t memory_bytes, Descriptor& session_end) {
    ZygoteReply reply;
    reply.error = runners_.size() >= kMaxRunners ? EAGAIN : memory_bytes > left_ ? ENOMEM : 0;
    int ends[2];
    if (reply.error == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) reply.error = errno;
    if (reply.error != 0) return reply;
    session_end = Descriptor(ends[0]);
    const Descriptor runner_end(ends[1]);
    const pid_t zygote = getpid();
    reply.runner = fork();
    if (reply.runner == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != zygote) _exit(0);
      close(socket_);
      session_end = Descriptor();
      limit_resource(RLIMIT_DATA, kOwnMemory + threads_ * kThreadMemory + memory_bytes);
      run_runner(runner_end.number());
    }
    if (reply.runner < 0) {
      reply.error = errno;
      return reply;
    }
    runners_.push_back({reply.runner, memory_bytes});
    left_ -= memory_bytes;
    return reply;
  }

  ZygoteReply end(pid_t runner) {
    ZygoteReply reply;
    const auto found = std::ranges::find(runners_, runner, &LivingRunner::process);
    if (found == runners_.end()) {
      reply.error = ESRCH;
      return reply;
    }
    left_ += found->memory_bytes;
    runners_.erase(found);
    kill(runner, SIGKILL);
    while (waitpid(runner, &reply.wait_status, 0) < 0 && errno == EINTR) {
    }
    return reply;
  }

 private:
  int socket_;
  std::uint64_t left_;
  std::uint32_t threads_;
  std::vector<LivingRunner> runners_;
};

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
  while (receive_message(socket, writable_bytes_of(request), none)) {
    none.clear();
    Descriptor session_end;
    const ZygoteReply reply = request.order == ZygoteOrder::start ? server.start(request.memory_bytes, session_end)
                                                                  : server.end(request.runner);
    const int sent[] = {session_end.number()};
    if (!send_message(socket, bytes_of(reply), std::span(sent).first(session_end.number() < 0 ? 0 : 1))) break;
  }
  _exit(0);
}

Result<RunnerProcess> Zygote::start_runner(std::uint64_t memory_bytes) const {
  ZygoteReply reply;
  std::vector<Descriptor> sockets;
  const ZygoteRequest request{ZygoteOrder::start, 0, memory_bytes};
  if (!send_message(socket_.number(), bytes_of(request)) ||
      !receive_message(socket_.number(), writable_bytes_of(reply), sockets)) {
    reply.error = EPIPE;
  }
  if (reply.error == 0 && sockets.size() != 1) reply.error = EMFILE;
  if (reply.error != 0) {
    return Status(ErrorCode::resource_exhausted,
                  format("cannot start a process for the kernel: %s", std::strerror(reply.error)));
  }
  return RunnerProcess{reply.runner, std::move(sockets.front())};
}

int Zygote::end_runner(pid_t process) const {
  ZygoteReply reply;
  std::vector<Descriptor> none;
  const ZygoteRequest request{ZygoteOrder::end, process, 0};
  const bool is_answered = send_message(socket_.number(), bytes_of(request)) &&
                           receive_message(socket_.number(), writable_bytes_of(reply), none);
  return is_answered && reply.error == 0 ? reply.wait_status : -1;
}

}  // namespace ferry::device
