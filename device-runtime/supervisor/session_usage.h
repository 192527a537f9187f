// Resources of a session that no limit of the system covers: memory of files, and the total size of its files. They are
// determined from outside, from what the system reports about the process and from the contents of its folder.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/status.h"
#include "device-runtime/sandbox/sandbox.h"

namespace ferry::device {

// Returns whether the files below this path are in memory instead of on a disk.
bool is_memory(const std::string& path);

class SessionUsage {
 public:
  // The process must be confined with these options.
  SessionUsage(pid_t process, const SandboxOptions& sandbox);
  SessionUsage(const SessionUsage&) = delete;
  SessionUsage& operator=(const SessionUsage&) = delete;
  ~SessionUsage();

  // Returns resource_exhausted, with a message that names the resource, once there is too much. There may be many
  // files, so a separate process counts them, and a later call reports the result.
  Status check();

 private:
  Status check_files(std::uint64_t most);
  Status judge(int exit_status) const;

  pid_t process_;
  std::string folder_;
  std::uint64_t memory_limit_;  // 0: none
  bool files_are_memory_;
  pid_t counter_ = 0;  // the running counting process
};

}  // namespace ferry::device
