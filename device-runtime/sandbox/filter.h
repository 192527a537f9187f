// A seccomp filter for the system calls of a session, which system_calls.def lists.
#pragma once

#include <string>

namespace ferry::device {

enum class Filter {
  // For a process that runs none of the session's code; those that it forks install a filter of their own.
  none,
  // Allows only what a session and the C library need: memory, threads, clocks, and the descriptors that are open.
  strict,
  // The same, and further filters. For the process of a measured kernel until it has loaded it.
  runner,
  // Refuses only what harms others, since what GPU drivers need is unknown: their compilers run other programs and talk
  // to local services.
  gpu,
};

// Applies to this process, its threads and its children, permanently. Requires no_new_privs. Returns the reason if the
// kernel cannot install it, otherwise an empty string.
std::string install_filter(Filter filter);

}  // namespace ferry::device
