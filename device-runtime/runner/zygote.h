// The process that forks a session's runners. It is forked from the session's before that has a socket or keys, runs
// nothing of the session's code, and ends with it.
#pragma once

#include <sys/types.h>

#include "base/descriptor.h"
#include "base/status.h"

namespace ferry::device {

// Whether this system can run kernels in processes whose every stop is noticed.
bool can_isolate();

// Serves the session on this socket until it ends. The process has been confined, but for the filter.
[[noreturn]] void run_zygote(int socket);

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
  // Fails with resource_exhausted.
  Result<RunnerProcess> start_runner() const;
  // Kills the runner if it has not ended, and returns its wait status; -1 if there is no zygote any more.
  int end_runner(pid_t process) const;

 private:
  Descriptor socket_;
};

}  // namespace ferry::device
