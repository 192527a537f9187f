#include "device-runtime/runner/zygote.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
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

namespace ferry::device {
namespace {

ZygoteReply start(int socket, Descriptor& session_end) {
  ZygoteReply reply;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    reply.error = errno;
    return reply;
  }
  session_end = Descriptor(ends[0]);
  const Descriptor runner_end(ends[1]);
  const pid_t zygote = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != zygote) _exit(0);
    close(socket);
    session_end = Descriptor();
    run_runner(runner_end.number());
  }
  reply.runner = child;
  if (child < 0) reply.error = errno;
  return reply;
}

ZygoteReply end(pid_t runner, std::vector<pid_t>& runners) {
  ZygoteReply reply;
  const auto found = std::ranges::find(runners, runner);
  if (found == runners.end()) {
    reply.error = ESRCH;
    return reply;
  }
  runners.erase(found);
  kill(runner, SIGKILL);
  while (waitpid(runner, &reply.wait_status, 0) < 0 && errno == EINTR) {
  }
  return reply;
}

}  // namespace

bool can_isolate() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;  // the sanitizers' own system calls are many
#else
  const std::uint32_t action = SECCOMP_RET_USER_NOTIF;
  return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#endif
}

void run_zygote(int socket) {
  std::vector<pid_t> runners;
  ZygoteRequest request;
  std::vector<Descriptor> none;
  while (receive_message(socket, writable_bytes_of(request), none)) {
    Descriptor session_end;
    const ZygoteReply reply =
        request.order == ZygoteOrder::start ? start(socket, session_end) : end(request.runner, runners);
    if (request.order == ZygoteOrder::start && reply.error == 0) runners.push_back(reply.runner);
    const int sent[] = {session_end.number()};
    if (!send_message(socket, bytes_of(reply), std::span(sent).first(session_end.number() < 0 ? 0 : 1))) break;
  }
  _exit(0);
}

Result<RunnerProcess> Zygote::start_runner() const {
  ZygoteReply reply;
  std::vector<Descriptor> sockets;
  const ZygoteRequest request{ZygoteOrder::start, 0};
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
  const ZygoteRequest request{ZygoteOrder::end, process};
  const bool is_answered = send_message(socket_.number(), bytes_of(request)) &&
                           receive_message(socket_.number(), writable_bytes_of(reply), none);
  return is_answered && reply.error == 0 ? reply.wait_status : -1;
}

}  // namespace ferry::device
