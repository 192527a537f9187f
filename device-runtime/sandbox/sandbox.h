// Confines a session's process. Whoever holds a key may run native code here and is trusted with that: these are limits
// against accidents, a kernel that runs wild above all, not against an attacker who already runs code.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device-runtime/sandbox/filter.h"
#include "rpc/base/status.h"

namespace ferry::device {

struct SandboxOptions {
  std::uint64_t memory_bytes = 0;  // of the session's tensors and modules
  std::uint32_t threads = 1;       // that kernels use
  std::uint64_t cpu_seconds = 0;   // 0: no limit
  Filter filter = Filter::strict;
  std::string folder;  // to work in; empty: there is none
  bool change_user = false;
  uid_t user = 0;
  gid_t group = 0;
};

// What a session may leave on disk at a time, all its files together; one alone is limited to as much by the system.
inline constexpr std::uint64_t kMaxSessionFileBytes = std::uint64_t{1} << 30;
inline constexpr std::size_t kMaxSessionFiles = 20'000;

// Tensors and modules, and what the server itself and each thread need beside them.
std::uint64_t all_memory(const SandboxOptions& options);

// For good. Returns what this kernel, board or user does not allow to be enforced, in words for a person. A failure
// means that the process must not go on.
Result<std::vector<std::string>> enter_sandbox(const SandboxOptions& options);

// "name", "1000" or "1000:1000". invalid_argument when /etc/passwd has no such name.
Status find_user(const std::string& text, SandboxOptions& options);

// Removes a folder with all that is in it, however deep, without following links. Root empties the folder of somebody
// else as that user. Only the caller may be able to change what lies above it.
void remove_tree(const std::string& path);

}  // namespace ferry::device
