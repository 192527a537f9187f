// A definition that is compiled in float64 and computes all elements of a call's outputs on this machine, where the
// reference evaluator would take too long (host/lang/reference/reference_program.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ferry/lang/program.h"
#include "host/compiler/api/compiler.h"
#include "host/kernel/call_plan.h"
#include "host/lang/reference/reference.h"

namespace ferry::verify {

struct NativeOutput {
  std::vector<std::uint8_t> values;  // in the output's type; empty for what is no output
  std::vector<double> errors;        // bounds as of ReferenceProgram; empty: none
};

// Not thread-safe.
class NativeDefinition {
 public:
  // The compiler must outlive this object.
  NativeDefinition(const Compiler& compiler, lang::Program program);
  ~NativeDefinition();

  // Returns an output for each parameter of the program; nothing if the program has to be evaluated, if the call would
  // take longer than so many seconds or much memory, or fails. `arguments` are as of lang::Reference. Errors are those
  // of worst_case and square_root; of exact, values alone are meant.
  std::optional<std::vector<NativeOutput>> outputs_of(const CallPlan& plan, std::span<const void* const> arguments,
                                                      lang::RoundingBound bound, double seconds) const;

 private:
  struct Compiled;
  const Compiled* compiled(lang::RoundingBound bound, const CallPlan& plan, std::span<const void* const> arguments,
                           double seconds) const;

  const Compiler& compiler_;
  lang::Program program_;
  // For each bound; null until it is needed.
  mutable std::unique_ptr<Compiled> worst_case_, square_root_;
};

}  // namespace ferry::verify
