// Resources of a session that no limit of the system covers: memory of files, page tables, and the total size of its
// files. They are determined from outside, from what the system reports about the process and from the contents of its
// folder.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "device-runtime/sandbox/sandbox.h"

namespace ferry::device {

// Returns whether the files below this path are in memory instead of on a disk.
bool is_memory(const std::string& path);

// Returns the processor time of all threads of the process; nothing if the system does not tell.
std::optional<std::int64_t> processor_time_of(pid_t process);

// The zero value is no file's.
struct FileIdentity {
  std::uint64_t device = 0, number = 0;
  bool operator==(const FileIdentity&) const = default;
};

class SessionUsage {
 public:
  // The process must be confined with these options. `shared` is the memory that it shares with its runners, which
  // counts as memory and not as a file; -1: there is none.
  SessionUsage(pid_t process, const SandboxOptions& sandbox, int shared = -1);
  SessionUsage(const SessionUsage&) = delete;
  SessionUsage& operator=(const SessionUsage&) = delete;
  ~SessionUsage();

  // Returns resource_exhausted, with a message that names the resource, once there is too much. There may be many
  // files, so a separate process counts them, and a later call reports the result.
  Status check();
  // Whether the last check() found that the process's first thread has ended while others run on. The system then tells
  // neither its end nor its memory and files.
  bool is_headless() const { return is_headless_; }

 private:
  Status check_files(std::uint64_t most);
  Status judge(int exit_status) const;

  pid_t process_;
  std::string folder_;
  std::uint64_t memory_limit_;  // 0: none
  bool files_are_memory_;
  std::uint64_t (*gpu_nameless_bytes_)(pid_t session, std::uint64_t most);  // null: the session has no GPU
  FileIdentity shared_;
  bool is_headless_ = false;
  pid_t counter_ = 0;  // the running counting process
};

}  // namespace ferry::device
