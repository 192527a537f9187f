// What a session holds and no limit of the system's counts: memory that belongs to files, and its files all together.
// Looked at from outside, by what the system tells of the process and what lies in its folder.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "device-runtime/sandbox/sandbox.h"
#include "rpc/base/status.h"

namespace ferry::device {

class SessionUsage {
 public:
  // A process that was confined in this way.
  SessionUsage(pid_t process, const SandboxOptions& sandbox);
  SessionUsage(const SessionUsage&) = delete;
  SessionUsage& operator=(const SessionUsage&) = delete;
  ~SessionUsage();

  // resource_exhausted, with a sentence that says what there is too much of, once there is. Files are counted by a
  // process of its own, since there may be many, so that a later call tells of them.
  Status check();

 private:
  Status check_files(std::uint64_t most);
  Status judge(int exit_status) const;

  pid_t process_;
  std::string folder_;
  std::uint64_t memory_limit_;  // 0: none
  bool files_are_memory_;
  pid_t counter_ = 0;  // at work
};

}  // namespace ferry::device
