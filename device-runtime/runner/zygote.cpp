#include "device-runtime/runner/zygote.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/format.h"
#include "device-runtime/broker/messages.h"
#include "device-runtime/runner/task.h"

namespace ferry::device {

bool can_isolate() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;  // the sanitizers' own system calls are many
#else
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#endif
}

Result<RunnerProcess> Zygote::start_runner(std::uint64_t memory_bytes) const {
  ZygoteReply reply;
  std::vector<Descriptor> sockets;
  if (!ask({.order = ZygoteOrder::start, .memory_bytes = memory_bytes}, reply, sockets)) reply.error = EPIPE;
  if (reply.error == 0 && sockets.size() != 1) reply.error = EMFILE;
  if (reply.error != 0) {
    return Status(ErrorCode::resource_exhausted,
                  format("cannot start a process for the kernel: %s", std::strerror(reply.error)));
  }
  return RunnerProcess{reply.process, std::move(sockets.front())};
}

bool Zygote::ask(const ZygoteRequest& request, ZygoteReply& reply, std::vector<Descriptor>& descriptors) const {
  return send_message(socket_.number(), bytes_of(request)) &&
         receive_message(socket_.number(), writable_bytes_of(reply), descriptors);
}

ZygoteReply Zygote::ask_about(const ZygoteRequest& request) const {
  ZygoteReply reply;
  std::vector<Descriptor> none;
  if (!ask(request, reply, none)) reply.error = EPIPE;
  return reply;
}

int Zygote::end_runner(pid_t process) const {
  const ZygoteReply reply = ask_about({.order = ZygoteOrder::end, .runner = process});
  return reply.error == 0 ? reply.wait_status : -1;
}

void Zygote::kill_runner(pid_t process) const { ask_about({.order = ZygoteOrder::kill, .runner = process}); }

bool Zygote::trace_runner(pid_t process, std::int32_t core) const {
  return ask_about({.order = ZygoteOrder::trace, .runner = process, .core = core}).error == 0;
}

pid_t Zygote::wait_for_stop(pid_t process, pid_t goes_on) const {
  const ZygoteReply reply = ask_about({.order = ZygoteOrder::wait, .runner = process, .thread = goes_on});
  return reply.error == 0 ? reply.process : 0;
}

bool Zygote::let_go_on(pid_t thread) const {
  return send_message(socket_.number(), bytes_of(ZygoteRequest{.order = ZygoteOrder::go_on, .thread = thread}));
}

}  // namespace ferry::device
