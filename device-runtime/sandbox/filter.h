// The system calls that a session may not make, as a seccomp filter.
#pragma once

#include <string>

namespace ferry::device {

enum class Filter {
  strict,
  // For drivers of GPUs, whose compilers run other programs: processes, programs and local sockets are allowed too.
  gpu,
};

// For this process, its threads and what it starts, for good. Needs no_new_privs. The reason when the kernel cannot;
// empty when all is well.
std::string install_filter(Filter filter);

}  // namespace ferry::device
