// The last step of every way to a target: from a triple, a CPU and attributes to the whole struct. Used by target/
// alone.
#pragma once

#include "crosscompile/codegen/llvm/cpu/cpu_tables.h"
#include "crosscompile/target/target.h"

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
};

// Throws CompileError with the nearest names for an unknown CPU or feature.
Target build_target(const TargetParts& parts);

// C for any compiler: of the parts only the sizes and the number of threads count.
Target build_c_target(const TargetParts& parts);

// Of features.def for this architecture, sorted.
std::vector<std::string> detectable_features(const std::string& arch);

// CPU and attributes that turn on those of the detectable features that are in `reported`, and no other of them. `cpu`
// is the identified CPU, or empty.
void apply_reported_features(TargetParts& parts, std::string cpu, const std::vector<std::string>& reported);

// Registers, masks: what follows from features.
void set_vector_hints(Target& target);

}  // namespace ferry
