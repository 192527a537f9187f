// The process that forks a session's runners. It is forked from the session's before that has a socket or keys, runs
// nothing of the session's code, and ends with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ferry::device {

inline constexpr std::size_t kMaxRunners = 8;  // at a time

// Serves the session on this socket until it ends. The process has been confined, but for the filter. All runners
// together get so many bytes for code and workspaces, and each its own memory beside that, for so many threads.
[[noreturn]] void run_zygote(int socket, std::uint64_t memory_limit, std::uint32_t threads);

}  // namespace ferry::device
