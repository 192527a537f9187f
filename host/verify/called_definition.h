// The definition of a program with the arguments of one call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ferry/lang/program.h"
#include "host/kernel/call_plan.h"
#include "host/lang/reference/reference.h"
#include "host/verify/definition.h"
#include "host/verify/native_definition.h"
#include "module/manifest.h"

namespace ferry::verify {

// The bound that the contents of the inputs allow: errors of sums cancel if all floats that are read are random.
lang::RoundingBound bound_of(const FunctionInfo& function, const CallPlan& plan);

class CalledDefinition {
 public:
  // The plan must outlive this object, and so must `native`, the program compiled, or null.
  CalledDefinition(const lang::Program& program, const FunctionInfo& function, const CallPlan& plan,
                   lang::RoundingBound bound, const NativeDefinition* native = nullptr);
  // The definition must outlive this object too; the plan is one of its program.
  CalledDefinition(const Definition& definition, const CallPlan& plan, lang::RoundingBound bound)
      : CalledDefinition(definition.program, definition.info, plan, bound, definition.native.get()) {}
  CalledDefinition(const CalledDefinition&) = delete;
  CalledDefinition& operator=(const CalledDefinition&) = delete;

  const lang::Reference& reference() const { return reference_; }
  const lang::Program& program() const { return program_; }
  const CallPlan& plan() const { return plan_; }
  // As of lang::Reference.
  std::span<const void* const> arguments() const { return arguments_; }
  // Computes all outputs, once. Returns null where NativeDefinition returns nothing, and for a call whose elements the
  // reference evaluates sooner than something is compiled.
  const std::vector<NativeOutput>* native_outputs(double seconds) const;

 private:
  std::vector<const void*> arguments_of(const FunctionInfo& function, const CallPlan& plan);

  std::vector<std::vector<std::uint8_t>> inputs_;
  std::vector<std::uint64_t> scalars_;
  std::vector<const void*> arguments_;
  lang::Program program_;
  const CallPlan& plan_;
  const NativeDefinition* native_;
  lang::Reference reference_;  // reads those above
  mutable std::optional<std::vector<NativeOutput>> outputs_;
};

}  // namespace ferry::verify
