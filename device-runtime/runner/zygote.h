// The process that forks a session's runners. It is forked from the session's before that has a socket or keys, runs
// nothing of the session's code, and ends with it.
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

inline constexpr std::size_t kMaxRunners = 8;  // at a time

// Serves the session on this socket until it ends. The process has been confined, but for the filter. All runners
// together get so many bytes for code and workspaces, and each its own memory beside that, for so many threads.
[[noreturn]] void run_zygote(int socket, std::uint64_t memory_limit, std::uint32_t threads);

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

 private:
  bool ask(const ZygoteRequest& request, ZygoteReply& reply, std::vector<Descriptor>& descriptors) const;

  Descriptor socket_;
};

}  // namespace ferry::device
