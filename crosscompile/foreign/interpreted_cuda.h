// Runs a kernel in CUDA C on this machine, thread by thread, on the interpreter of PTX (crosscompile/ptx): it sees
// races, accesses outside of tensors and of shared arrays, and values that were never written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "crosscompile/foreign/foreign.h"
#include "crosscompile/foreign/sanitized_run.h"

namespace ferry::foreign {

class InterpretedCuda {
 public:
  // `signature` must be one of the kernel's signatures and outlive this object. Throws CompileError when the kernel
  // does not compile for the target's first GPU, or has instructions that the interpreter does not know.
  InterpretedCuda(const ForeignKernel& kernel, const Signature& signature, const Target& target);
  ~InterpretedCuda();

  // Calls the kernel once. Its __device__ variables begin as the program defines them. The call ends after this many
  // seconds. Throws CompileError for a launch that CUDA does not take.
  SanitizedRun run(const std::vector<SanitizedArgument>& arguments, const std::vector<std::int64_t>& symbols,
                   double deadline) const;

 private:
  struct Loaded;
  const Signature& signature_;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace ferry::foreign
