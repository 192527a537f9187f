// Whether a kernel and its compiler are the same as earlier.
#pragma once

#include <optional>
#include <string>

#include "ferry/hash.h"
#include "ferry/kernel/call_options.h"
#include "host/kernel/kernel.h"

namespace ferry {

// Returns a hash of everything that the code depends on which compile_kernel() makes for the same arguments: the text,
// schedule, sizes and files of the kernel, the tuned schedules that apply, the target, and the compiler's own build.
// Equal hashes mean equal code, on any machine and in any folder. The opposite is not true; code_identity() compares
// the code itself.
//
// Everything that reaches the object counts for kernels in other languages: headers, flags, files that are included in
// any other way, and the version of their compiler. They are compiled for this purpose, and it throws as
// compile_kernel() if that fails. Returns nothing if a network's file has changed since it was read.
struct SourceIdentity {
  Hash hash{};
  std::optional<CompiledModule> module = {};  // relinkable; nothing if the kernel was not compiled
};
std::optional<SourceIdentity> source_identity(const KernelSource& source, const std::string& function,
                                              const Target& target, const CallOptions& call,
                                              const Observer& observer = {});

}  // namespace ferry
