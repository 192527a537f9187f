// One of the sides of a comparison: a function of a module that is compiled once, and the call that is measured.
#pragma once

#include <string>
#include <vector>

#include "ferry/bench/sampling.h"
#include "host/compiler/api/compiler.h"
#include "host/kernel/call_plan.h"

namespace ferry::bench {

struct MeasuredSide {
  CompiledModule module;  // relinkable, unless it was linked already or is for a GPU
  FunctionInfo info;
  CallPlan plan;
};

// The settings that all processes of a comparison have in common.
struct RunSettings {
  const Compiler* compiler;          // null: the modules are linked already
  std::vector<std::string> devices;  // besides the CPU
  SamplingOptions sampling;
};

}  // namespace ferry::bench
