// Runs a C or C++ kernel once on this machine under clang's sanitizers, which detect what a device cannot: accesses
// outside of its tensors at any distance, integer overflow, shifts by too many bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crosscompile/foreign/foreign.h"
#include "crosscompile/link/temporary_folder.h"

namespace ferry::foreign {

// One per parameter, in order.
struct SanitizedArgument {
  std::uint64_t scalar_bits = 0;
  std::vector<std::uint8_t> bytes;  // a tensor's contents
};

struct SanitizedRun {
  std::string report;   // what the sanitizers say; empty when they found nothing
  std::string mistake;  // the report's main line, a failure that the function returned, or a missed deadline, or empty
  std::vector<std::vector<std::uint8_t>> outputs;  // one per parameter, empty for those that are not written
};

// A program of its own that makes this one call, in a temporary folder.
class SanitizedProgram {
 public:
  // Compiles it. `signature` must be one of the kernel's signatures and outlive the program, and `symbols` holds the
  // values of its sizes. Throws CompileError when the kernel is neither C nor C++, does not compile, or the sanitizers
  // are not installed.
  SanitizedProgram(const ForeignKernel& kernel, const Signature& signature,
                   const std::vector<SanitizedArgument>& arguments, const std::vector<std::int64_t>& symbols);
  // Ends the program after this many seconds. It is confined (crosscompile/confine): it reads the system's libraries
  // and this folder, and writes to the files of its outputs.
  SanitizedRun run(double deadline) const;

 private:
  struct End {
    int code = 0;          // 128 + N when signal N ended it
    bool is_late = false;  // the deadline ended it
    std::string report;
  };
  End run_program(double deadline) const;

  const FunctionInfo& function_;
  link::TemporaryFolder folder_;
  std::uint64_t bytes_ = 0;  // the size of all tensors
};

}  // namespace ferry::foreign
