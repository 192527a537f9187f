// Runs a C or C++ kernel once on this machine under clang's sanitizers, which detect what a device cannot: accesses
// outside of its tensors at any distance, integer overflow, shifts by too many bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crosscompile/foreign/foreign.h"

namespace ferry::foreign {

// One per parameter, in order.
struct SanitizedArgument {
  std::uint64_t scalar_bits = 0;
  std::vector<std::uint8_t> bytes;  // of a tensor
};

struct SanitizedRun {
  std::string report;   // of the sanitizers; empty when they found nothing
  std::string mistake;  // the report's main line, or that the function returned a failure; empty: none
  std::vector<std::vector<std::uint8_t>> outputs;  // one per parameter, empty for those that are not written
};

// `signature` must be one of the kernel's signatures, and `symbols` holds the values of its sizes. Throws CompileError
// when the kernel is neither C nor C++, does not compile, or the sanitizers are not installed.
SanitizedRun run_sanitized(const ForeignKernel& kernel, const Signature& signature,
                           const std::vector<SanitizedArgument>& arguments, const std::vector<std::int64_t>& symbols);

}  // namespace ferry::foreign
