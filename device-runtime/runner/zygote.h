// The session's connection to the process that forks its runners (zygote_server.h).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/descriptor.h"
#include "base/status.h"

namespace ferry::device {

struct ZygoteReply;
struct ZygoteRequest;

// Whether this system can leave a process no system calls but a few (Linux 4.14).
bool can_isolate();

// A runner as its session has it. The end of its process closes the socket.
struct RunnerProcess {
  pid_t process = 0;
  Descriptor socket;
};

// The session's connection to its zygote.
class Zygote {
 public:
  Zygote() = default;
  explicit Zygote(Descriptor socket) : socket_(std::move(socket)) {}

  bool exists() const { return socket_.number() >= 0; }
  // Starts a runner whose code and workspaces may take so many bytes. Fails with resource_exhausted.
  Result<RunnerProcess> start_runner(std::uint64_t memory_bytes) const;
  // Kills the runner if it has not ended, and returns its wait status; -1 if there is no zygote any more.
  int end_runner(pid_t process) const;
  // Kills a runner, none of whose threads runs from then on if the system has stopped them all.
  void kill_runner(pid_t process) const;
  // Makes the zygote the tracer of a runner that has one thread yet and allows that, and with which it takes turns on
  // this core, -1: on any. Returns whether the system does that.
  bool trace_runner(pid_t process, std::int32_t core) const;
  // Waits until a thread of a runner that is traced has stopped, and returns it; 0: the runner has ended. Before that,
  // lets a thread go on that has stopped; 0: none.
  pid_t wait_for_stop(pid_t process, pid_t goes_on) const;
  // Returns false if there is no zygote any more.
  bool let_go_on(pid_t thread) const;

 private:
  ZygoteReply ask_about(const ZygoteRequest& request) const;
  bool ask(const ZygoteRequest& request, ZygoteReply& reply, std::vector<Descriptor>& descriptors) const;

  Descriptor socket_;
};

}  // namespace ferry::device
