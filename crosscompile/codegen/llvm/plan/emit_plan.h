// Compiles the plan of a function to the C functions of c_interface.h: straight code that checks a call, computes its
// sizes and runs its steps. It allocates nothing; all memory is the caller's.
#pragma once

#include "crosscompile/codegen/llvm/plan/c_interface.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ferry::codegen {

struct ExportedPlan {
  const Manifest& manifest;  // describes one function, whose kernels are code of a CPU
  const CInterface& interface;
  std::span<const std::uint8_t> weights;  // as of weights.h
};

// Returns an object in which the kernels are undefined.
std::vector<std::uint8_t> emit_plan(const ExportedPlan& plan, const Target& target);

// Returns the objects of the math functions, by their names. Kernels need few of them.
std::map<std::string, std::vector<std::uint8_t>> emit_math(const Target& target);

// Returns the object of the threads.
std::vector<std::uint8_t> emit_threads(const CInterface& interface, const Target& target);

}  // namespace ferry::codegen
