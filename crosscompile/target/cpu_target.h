// The last step of every way to construct a target: from a triple, a CPU and attributes to the whole struct. Used by
// target/ alone.
#pragma once

#include "crosscompile/codegen/llvm/cpu/cpu_tables.h"
#include "ferry/target/target.h"

#include <string>
#include <vector>

namespace ferry {

struct TargetParts {
  codegen::TripleFacts triple;
  std::string cpu;                      // empty: the architecture's baseline
  std::vector<std::string> attributes;  // "+neon", "-crc", later ones win
  std::uint64_t l1_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::uint32_t threads = 0;
  bool unaligned_tensors = false;  // module/unaligned_tensors.h
};

// Throws CompileError with the nearest names for an unknown CPU or feature.
Target build_target(const TargetParts& parts);

// Returns the target for C code for any compiler: of the parts, only the sizes and the number of threads matter.
Target build_c_target(const TargetParts& parts);

// Returns the names that features.def lists for this architecture, sorted.
std::vector<std::string> detectable_features(const std::string& arch);

// Sets the CPU and attributes so that exactly those detectable features are on that are in `reported`. `cpu` is the
// identified CPU, or empty.
void apply_reported_features(TargetParts& parts, std::string cpu, const std::vector<std::string>& reported);

// Sets the fields about registers that follow from the features.
void set_vector_hints(Target& target);

}  // namespace ferry
