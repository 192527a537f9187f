#include "ferry/description.h"

#include "module/manifest.h"
#include "module/step_description.h"

namespace ferry {

namespace {

std::vector<std::string> texts_of(const std::vector<ManifestExpr>& shape, const std::vector<std::string>& symbols) {
  std::vector<std::string> texts;
  for (const ManifestExpr& extent : shape) texts.push_back(to_text(extent, symbols));
  return texts;
}

FunctionDescription described(const FunctionInfo& info) {
  FunctionDescription function{info.name, signature_text(info), info.symbols, {}};
  for (const ParameterInfo& parameter : info.parameters)
    function.parameters.push_back({parameter.name, parameter.dtype, parameter.kind == ParameterKind::tensor,
                                   parameter.direction != Direction::out, parameter.direction != Direction::in,
                                   parameter.is_constant, texts_of(parameter.shape, info.symbols)});
  return function;
}

}  // namespace

std::vector<FunctionDescription> describe(const CompiledModule& module) {
  std::vector<FunctionDescription> functions;
  for (const FunctionInfo& info : module.manifest().functions) functions.push_back(described(info));
  return functions;
}

FunctionDescription describe(const Function& function) { return described(function.info()); }

std::vector<StepText> describe_steps(const CompiledModule& module) {
  std::vector<StepText> steps;
  for (const StepDescription& step : module.steps()) {
    const std::vector<std::string>& symbols = module.manifest().functions.front().symbols;
    const auto text = [&](const ManifestExpr& expr) {
      return expr.code.empty() ? std::string() : to_text(expr, symbols);
    };
    steps.push_back({step.node, step.dtype, texts_of(step.shape, symbols), text(step.flops), text(step.bytes)});
  }
  return steps;
}

}  // namespace ferry
