// A kernel in C or C++ run once on this machine under clang's sanitizers, which see what a device cannot: reads and
// writes outside of its tensors by any distance, integers that overflow, shifts too far.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crosscompile/foreign/foreign.h"

namespace ferry::foreign {

// One a parameter, in order.
struct SanitizedArgument {
  std::uint64_t scalar_bits = 0;
  std::vector<std::uint8_t> bytes;  // of a tensor
};

struct SanitizedRun {
  std::string report;                              // of the sanitizers; empty: they found nothing
  std::string mistake;                             // its gist, or that the function returned a failure; empty: none
  std::vector<std::vector<std::uint8_t>> outputs;  // one a parameter, empty for those that are not written
};

// The signature must be one of the kernel's, `symbols` the values of its sizes. CompileError when it is neither C nor
// C++, does not compile, or the sanitizers are not installed.
SanitizedRun run_sanitized(const ForeignKernel& kernel, const Signature& signature,
                           const std::vector<SanitizedArgument>& arguments, const std::vector<std::int64_t>& symbols);

}  // namespace ferry::foreign
