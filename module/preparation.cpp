#include "module/preparation.h"

#include <algorithm>

namespace ferry {
namespace {

bool is_out(const ParameterInfo& parameter) { return parameter.direction == Direction::out; }

Status misfit(const CallersFunction& function, const ParameterInfo& parameter) {
  return Status(ErrorCode::invalid_argument, function.preparation->name + ": expected inputs of " + function.info.name +
                                                 " and then what its last parameters are, got '" + parameter.name +
                                                 "'");
}

Status take_prepared_away(CallersFunction& function) {
  std::vector<ParameterInfo>& left = function.info.parameters;
  const std::vector<ParameterInfo>& parameters = function.preparation->parameters;
  const auto first_made = std::find_if(parameters.begin(), parameters.end(), is_out);
  for (auto made = parameters.end(); made != first_made;) {
    --made;
    const bool fits = is_out(*made) && !left.empty() && left.back().name == made->name &&
                      left.back().direction == Direction::in && left.back().kind == ParameterKind::tensor;
    if (!fits) return misfit(function, *made);
    left.pop_back();
  }
  for (auto input = parameters.begin(); input != first_made; ++input) {
    const bool is_tensor = input->kind == ParameterKind::tensor && input->direction == Direction::in;
    const auto same = [&](const ParameterInfo& p) { return p.name == input->name && p.kind == input->kind; };
    if (!is_tensor || std::none_of(left.begin(), left.end(), same)) return misfit(function, *input);
  }
  return Status();
}

}  // namespace

std::string preparation_name(const std::string& function) { return function + ":prepare"; }

Result<std::vector<CallersFunction>> callers_functions(const Manifest& manifest) {
  std::vector<CallersFunction> functions;
  for (std::size_t i = 0; i < manifest.functions.size(); ++i) {
    if (manifest.functions[i].name.find(':') != std::string::npos) continue;
    CallersFunction function{manifest.functions[i], std::nullopt, i, 0};
    const std::string wanted = preparation_name(function.info.name);
    for (std::size_t other = 0; other < manifest.functions.size(); ++other) {
      if (manifest.functions[other].name != wanted) continue;
      function.preparation = manifest.functions[other];
      function.preparation_index = other;
      FERRY_TRY(take_prepared_away(function));
      break;
    }
    functions.push_back(std::move(function));
  }
  return functions;
}

}  // namespace ferry
