// Confines a session's process, whose native code comes from whoever holds a key. docs/security.md says what holds.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "device-runtime/sandbox/filter.h"

namespace ferry::device {

// Limit of the total size of a session's files on disk, in its own folder.
inline constexpr std::uint64_t kMaxSessionFileBytes = std::uint64_t{1} << 30;
inline constexpr std::size_t kMaxSessionFiles = 20'000;

struct SandboxOptions {
  std::uint64_t memory_bytes = 0;                   // for the session's tensors and modules
  std::uint32_t threads = 1;                        // how many kernels use
  std::uint64_t cpu_seconds = 0;                    // 0: no limit
  std::uint64_t file_bytes = kMaxSessionFileBytes;  // the largest size of one file
  Filter filter = Filter::strict;
  // For sessions with a GPU, else null. Returns the bytes of all files without a name that the session holds.
  std::uint64_t (*nameless_bytes)(pid_t session, std::uint64_t most) = nullptr;
  bool (*sees_mapped_files)() = nullptr;  // whether they include mapped ones
  // Likewise: restricts which files it reaches, by Landlock. Returns false if the kernel cannot.
  bool (*restrict_gpu_files)(const std::string& folder) = nullptr;
  bool inspectable = false;  // debuggers and profilers of the same user may look into the process
  std::string folder;        // the working folder; empty: there is none
  bool change_user = false;
  uid_t user = 0;
  gid_t group = 0;
};

// Lowers a limit (RLIMIT_...) of this process, or of another one of the same user, and returns whether it is in effect;
// an emulator may accept a limit and ignore it.
bool limit_resource(int resource, std::uint64_t most, pid_t process = 0);

// Returns the memory for tensors and modules plus what the server itself and each thread need.
std::uint64_t all_memory(const SandboxOptions& options);

// Confines the process permanently. Returns the restrictions that this kernel, board or user does not allow to be
// enforced, in words for a person. After a failure the process must not continue.
Result<std::vector<std::string>> enter_sandbox(const SandboxOptions& options);

// Parses "name", "1000" or "1000:1000". Fails with invalid_argument if /etc/passwd does not contain the name.
Status find_user(const std::string& text, SandboxOptions& options);

// Removes a folder with its contents, at any depth, without following links. Root empties the folder of another user as
// that user. Only the caller may be able to change the parent folders.
void remove_tree(const std::string& path);

}  // namespace ferry::device
