#include "host/verify/definition.h"

#include "ferry/kernel/option_error.h"
#include "host/verify/same_call.h"

namespace ferry::verify {

ParameterPairs pair_with_reference(const FunctionInfo& info, const FunctionInfo& reference) {
  Result<ParameterPairs> pairs = pair_parameters(info, reference);
  if (!pairs.is_ok()) throw OptionError(Option::reference, pairs.status().message());
  return std::move(pairs.value());
}

Definition definition_of(const KernelSource& reference, const FunctionInfo& kernel) {
  FunctionInfo info = function_of(reference, "");
  ParameterPairs pairs = pair_with_reference(kernel, info);
  lang::Program program = program_of(reference, info.name);
  return {std::move(program), std::move(info), std::move(pairs), {}};
}

std::vector<Definition> definitions_of(const std::optional<lang::Program>& own, const FunctionInfo& kernel,
                                       const std::optional<KernelSource>& reference, const Compiler* compiler) {
  std::vector<Definition> definitions;
  if (own) definitions.push_back({*own, kernel, {}, {}});
  if (reference && has_definition(*reference)) definitions.push_back(definition_of(*reference, kernel));
  for (Definition& definition : definitions)
    if (compiler != nullptr) definition.native = std::make_shared<NativeDefinition>(*compiler, definition.program);
  return definitions;
}

CallPlan plan_of(const Definition& definition, const FunctionInfo& kernel, const CallPlan& plan) {
  return definition.pairs.empty() ? plan : plan_same_call(definition.info, kernel, plan, definition.pairs);
}

Outputs in_order_of(const Definition& definition, const Outputs& outputs) {
  if (definition.pairs.empty()) return outputs;
  Outputs ordered(definition.info.parameters.size());
  for (const auto& [kernel, program] : definition.pairs) ordered[program] = outputs[kernel];
  return ordered;
}

}  // namespace ferry::verify
