// A seccomp filter for the system calls that a session must not make.
#pragma once

#include <string>

namespace ferry::device {

enum class Filter {
  strict,
  // For GPU drivers, whose compilers run other programs: also allows processes, programs and local sockets.
  gpu,
};

// Applies to this process, its threads and its children, permanently. Requires no_new_privs. Returns the reason if the
// kernel cannot install it, otherwise an empty string.
std::string install_filter(Filter filter);

}  // namespace ferry::device
