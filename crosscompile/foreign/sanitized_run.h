// Runs a C or C++ kernel once on this machine under clang's sanitizers, which detect what a device cannot: accesses
// outside of its tensors at any distance, integer overflow, shifts by too many bits.
#pragma once

#include <cstdint>
#include <memory>
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

// A kernel compiled under sanitizers, with a main program that calls it with what its command line names.
class SanitizedKernel {
 public:
  // `signature` must be one of the kernel's signatures and outlive this object. Throws CompileError when the kernel is
  // neither C nor C++, does not compile, or the sanitizers are not installed.
  SanitizedKernel(const ForeignKernel& kernel, const Signature& signature);

  const FunctionInfo& function() const { return function_; }
  std::string folder() const { return folder_.file(""); }
  std::string program() const;

 private:
  const FunctionInfo& function_;
  link::TemporaryFolder folder_;
};

// One call of such a kernel, with its tensors in a temporary folder.
class SanitizedCall {
 public:
  // `symbols` holds the values of the kernel's sizes.
  SanitizedCall(std::shared_ptr<const SanitizedKernel> kernel, const std::vector<SanitizedArgument>& arguments,
                const std::vector<std::int64_t>& symbols);
  // Ends the program after this many seconds. It is confined (crosscompile/confine): it reads the system's libraries
  // and the folders of the kernel and of the call, and writes to the files of its outputs.
  SanitizedRun run(double deadline) const;

 private:
  struct End {
    int code = 0;          // 128 + N when signal N ended it
    bool is_late = false;  // the deadline ended it
    std::string report;
  };
  End run_program(double deadline) const;

  std::shared_ptr<const SanitizedKernel> kernel_;
  const FunctionInfo& function_;
  link::TemporaryFolder folder_;
  std::vector<std::string> words_;  // the command line
  std::uint64_t bytes_ = 0;         // the size of all tensors
};

}  // namespace ferry::foreign
