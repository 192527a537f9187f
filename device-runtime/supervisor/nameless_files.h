// Files that have been deleted but are still in use by a session with a GPU, which may have other processes and map
// files. They take room on the disk, and no folder lists them.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace ferry::device {

// Returns the bytes of those that any process of the session has open in any thread, or has mapped, or a larger number
// than `most`. It may take long: the session decides how many there are, and can delay what is said of its mappings.
std::uint64_t all_nameless_bytes(pid_t session, std::uint64_t most);

}  // namespace ferry::device
