// When memory runs out the system must end sessions, not the server.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/descriptor.h"

namespace ferry::device {

// This process's own setting (/proc/self/oom_score_adj), which processes that it forks begin with. A session does not
// write its own: the system lets no process do so that hides its memory, and one that shows it for that long could be
// opened by others of the same user.
class MemoryKiller {
 public:
  // Before the process hides its memory. Without /proc, sessions and server are ended alike.
  MemoryKiller();

  // fork() of a process that is ended before this one.
  pid_t fork_session() const;

 private:
  bool set(const std::string& score) const;

  Descriptor file_;
  std::string own_;  // what this process is meant to have
};

}  // namespace ferry::device
