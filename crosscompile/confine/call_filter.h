// A seccomp filter for programs that run on files of strangers: compilers, and kernels under sanitizers. It takes away
// the network and whatever changes what is not the program's own; what it needs of files, Landlock decides.
#pragma once

namespace ferry::confine {

// Returns whether this kernel has filters. Emulators of programs have none.
bool has_call_filter();

// Applies to the calling thread and what it executes, permanently. Needs no_new_privs. Allocates no memory. Returns
// whether it worked.
bool install_call_filter();

}  // namespace ferry::confine
