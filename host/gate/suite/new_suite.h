// Writes a suite for a folder of kernels, as a start.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ferry/kernel/call_options.h"
#include "host/compiler/api/compiler.h"
#include "host/kernel/kernel.h"

namespace ferry::gate {

struct SkippedFiles {
  std::string what;  // "old/mm.o", or "*.md (3 files)"
  std::string why;
};

struct NewSuite {
  std::string text;  // what read_suite() accepts
  std::size_t cases = 0;
  std::vector<SkippedFiles> skipped;
};

// Returns the seconds that a call of a kernel's function takes on this machine; nothing if it cannot be called here.
using TimeOfKernel = std::function<std::optional<double>(const KernelSource& source, const std::string& function,
                                                         const CallOptions& call)>;

// Takes every function of the folder's kernels in ferry's notation, of its C, C++, LLVM IR and assembly files with a
// comment that says how to call them, and of its networks, those in folders below included; names that begin with a dot
// are passed over, and links to folders are not followed. Files and functions come in alphabetical order. A schedule
// that is called like its kernel, mm.schedule beside mm.tc, is taken too, unless it has knobs.
//
// All sizes of a function that are symbols get the same power of two, chosen by the time of a call if `time` is given:
// see chosen_call(). `suite_folder` is the folder
// that the suite is to stand in: names of kernels are relative to it. Throws UsageError if the folder cannot be read,
// has no kernel, or too many for a suite.
NewSuite suite_for(const Compiler& compiler, const std::string& folder, const std::string& suite_folder,
                   const TimeOfKernel& time = {});

}  // namespace ferry::gate
