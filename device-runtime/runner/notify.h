// How a runner's threads stop until their judge goes on: by a system call that another process receives and answers
// (seccomp user notification, since Linux 5.0). While it is unanswered the system runs nothing of the thread. Where the
// system has none, or a container's agent receives the calls already, a thread says on a socket that it stops, and
// waits for an answer.
#pragma once

#include <array>
#include <cstdint>

#include "base/descriptor.h"

namespace ferry::device {

// What a thread says as it stops.
enum class Notice : std::uint32_t {
  done = 1,       // the first thread: the calls of a window have ended
  wants_threads,  // the first thread: it needs the others, which have stopped
  parked,         // another thread: it has no work
};

// A notice as it is said on a socket.
struct StopMessage {
  Notice notice = Notice::done;
  std::int32_t result = 0;
};

// Stops the calling thread until the judge answers. Only in a process with a listener or sockets.
void notify(Notice notice, std::int32_t result = 0);

// Returns a descriptor from which the judge receives what this thread, and those that it starts from now on, say; -1
// with errno if the system has none. Needs no_new_privs.
int open_listener();

// Two pairs of connected sockets: the first thread's and the other threads'.
struct StopSockets {
  std::array<Descriptor, 2> own, judges;

  // They have no descriptors if the system has none left.
  static StopSockets open();
};

// From now on notify() uses these sockets, which must remain open.
void use_sockets(const std::array<Descriptor, 2>& own);

// Leaves all threads of this process, for good, only what a kernel's parallel loops need beside notify(): to wait for
// each other, to read the clock, to return from signal handlers, and to end the process. Any other call ends it with
// SIGSYS. Returns whether the system enforces it.
bool leave_only_notices();

}  // namespace ferry::device
