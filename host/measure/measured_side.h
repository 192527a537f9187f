// One of the sides of a comparison: a function of a module that is compiled once, and the call that is measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ferry/bench/sampling.h"
#include "host/compiler/api/compiler.h"
#include "host/kernel/call_plan.h"
#include "host/verify/kernel_outputs.h"
#include "host/verify/probe_calls.h"

namespace ferry::bench {

// The definition that a side is held against while it is timed.
struct SideDefinition {
  std::vector<verify::Definition> definitions;  // with parameters that are paired with the side's
  verify::CheckLimits limits = {};
  // Calls for ChecksBetween, of which each process makes some. Both sides have as many.
  std::vector<verify::ProbeCall> between = {}, other_sizes = {};
};

struct MeasuredSide {
  CompiledModule module;  // relinkable, unless it was linked already or is for a GPU
  FunctionInfo info;
  CallPlan plan;
  std::vector<bool> whole_reads = {};  // the inputs of which its definition needs every element; empty: not known
  std::shared_ptr<const verify::Outputs> results = {};    // checked outputs of one call; null: there are none
  std::shared_ptr<const SideDefinition> definition = {};  // null: there is none
};

// The settings that all processes of a comparison have in common.
struct RunSettings {
  const Compiler* compiler;          // null: the modules are linked already
  std::vector<std::string> devices;  // besides the CPU
  SamplingOptions sampling;
  // Whether the timed calls are expected to compute something, and both sides the same: the parameters of the first
  // side are paired with those of the second.
  bool checks_results = true;
  verify::ParameterPairs pairs = {};
  verify::DifferenceLimits limits = {};
};

}  // namespace ferry::bench
