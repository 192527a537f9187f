// The definition that a kernel's results are held against: its own, or that of a reference.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ferry/lang/program.h"
#include "host/kernel/call_plan.h"
#include "host/kernel/kernel.h"
#include "host/verify/kernel_outputs.h"
#include "host/verify/native_definition.h"
#include "host/verify/same_parameters.h"

namespace ferry::verify {

struct Definition {
  lang::Program program;
  FunctionInfo info;     // how the program is called
  ParameterPairs pairs;  // the kernel's parameters and the program's; empty for its own definition
  std::shared_ptr<const NativeDefinition> native = {};  // the program compiled; null without a compiler
};

// Pairs the parameters of a kernel with those of the one it is checked against. Throws OptionError (reference) that
// names the first mismatch.
ParameterPairs pair_with_reference(const FunctionInfo& info, const FunctionInfo& reference);

// Throws OptionError (reference) if the reference cannot be called as the kernel is.
Definition definition_of(const KernelSource& reference, const FunctionInfo& kernel);
// Returns the kernel's own definition, if it is given, and that of the reference, if it has one. `compiler` is for
// Definition::native; it may be null, and must outlive them.
std::vector<Definition> definitions_of(const std::optional<lang::Program>& own, const FunctionInfo& kernel,
                                       const std::optional<KernelSource>& reference, const Compiler* compiler);

// Returns how the program is called with the inputs of the kernel's call. Throws UsageError if it cannot be.
CallPlan plan_of(const Definition& definition, const FunctionInfo& kernel, const CallPlan& plan);
// Returns the kernel's outputs as those of the program.
Outputs in_order_of(const Definition& definition, const Outputs& outputs);

}  // namespace ferry::verify
