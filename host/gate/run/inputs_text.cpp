#include "host/gate/run/inputs_text.h"

#include <set>

#include "base/utf8.h"
#include "module/manifest.h"

namespace ferry::gate {

namespace {

constexpr std::size_t kMostBytes = 600;

}  // namespace

std::string inputs_text(const FunctionInfo& function, const CallPlan& plan, const CallOptions& call) {
  std::string text;
  for (const std::string& sizes : call.sizes) text += "--size " + sizes + " ";
  std::set<std::string> given;
  for (const std::string& argument : call.arguments) {
    given.insert(argument.substr(0, argument.find('=')));
    text += "--arg " + argument + " ";
  }
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    const bool is_read = parameter.kind == ParameterKind::tensor && parameter.direction != Direction::out;
    if (!is_read || given.contains(parameter.name)) continue;
    text += "--arg " + parameter.name + "=" + shape_text(plan.dtypes[p], plan.shapes[p]) + ":random ";
    if (text.size() > kMostBytes) break;
  }
  if (text.size() > kMostBytes) text = std::string(utf8_prefix(text, kMostBytes)) + "... ";
  return text + "--seed " + std::to_string(call.seed);
}

}  // namespace ferry::gate
