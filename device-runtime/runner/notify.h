// How a runner's threads stop until their judge lets them go on: by a system call that another process receives and
// answers (seccomp user notification, since Linux 5.0). While it is unanswered the system runs nothing of the thread.
// Where the system has none, or a container's agent receives the calls already, the call stops the thread for the
// process that traces it. Where none may do that, a thread says on a socket that it stops, and waits for an answer.
#pragma once

#include <array>
#include <cstdint>

#include "base/descriptor.h"

namespace ferry::device {

// A thread's message on a socket as it stops.
struct StopMessage {
  std::uint64_t none = 0;
};

enum class StoppingThread : std::uint8_t { first, other };

// Stops the calling thread until the judge answers. Only in a process with a listener, a tracer or sockets.
void stop(StoppingThread thread);

// Returns a descriptor from which the judge receives the stops of this thread and of those that it starts from now on;
// -1 with errno if the system has none. Needs no_new_privs.
int open_listener();
// From now on the process that traces this thread, and those that it starts, is told when they stop. Returns whether
// the system does that.
bool report_stops_to_tracer();

// Two pairs of connected sockets: the first thread's and the other threads'.
struct StopSockets {
  std::array<Descriptor, 2> own, judges;

  // They have no descriptors if the system has none left.
  static StopSockets open();
};

// From now on stop() uses these sockets, which must remain open.
void use_sockets(const std::array<Descriptor, 2>& own);

// Leaves all threads of this process, for good, only what a kernel's parallel loops need beside stop(): to wait for
// each other, to read the clock, to return from signal handlers, and to end the process. Any other call ends it with
// SIGSYS. Returns whether the system enforces it.
bool leave_only_notices();

}  // namespace ferry::device
