// Kernels under schedules for GPUs, small enough to run on a CPU.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferry::codegen_test {

struct GpuProgram {
  std::string name, source, schedule;
  std::vector<std::map<std::string, std::int64_t>> sizes;
};

const std::vector<GpuProgram>& gpu_programs();
// Returns the function after the passes for the target.
ir::Function compiled_for(const GpuProgram& program, const Target& target);

}  // namespace ferry::codegen_test
