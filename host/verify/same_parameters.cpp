#include "host/verify/same_parameters.h"

#include <algorithm>

namespace ferry::verify {

namespace {

std::vector<std::size_t> without_sizes(const FunctionInfo& function) {
  std::vector<std::size_t> kept;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    if (!is_size(function, p)) kept.push_back(p);
  }
  return kept;
}

// Returns "in f32[n] x", "f32 a". Sizes are shown by name, although only the rank has to match.
std::string parameter_text(const FunctionInfo& function, std::size_t index) {
  const ParameterInfo& parameter = function.parameters[index];
  if (parameter.kind == ParameterKind::scalar) return std::string(dtype_name(parameter.dtype)) + " " + parameter.name;
  std::string sizes;
  for (const ManifestExpr& size : parameter.shape)
    sizes += (sizes.empty() ? "" : ",") + to_text(size, function.symbols);
  const char* direction = parameter.direction == Direction::in    ? "in "
                          : parameter.direction == Direction::out ? "out "
                                                                  : "inout ";
  return direction + std::string(dtype_name(parameter.dtype)) + "[" + sizes + "] " + parameter.name;
}

bool fit(const ParameterInfo& x, const ParameterInfo& y) {
  return x.kind == y.kind && x.direction == y.direction && x.dtype == y.dtype && x.shape.size() == y.shape.size();
}

}  // namespace

bool is_size(const FunctionInfo& function, std::size_t parameter) {
  const ParameterInfo& info = function.parameters[parameter];
  return info.kind == ParameterKind::scalar && !is_float(info.dtype) &&
         std::find(function.symbols.begin(), function.symbols.end(), info.name) != function.symbols.end();
}

Result<ParameterPairs> pair_parameters(const FunctionInfo& a, const FunctionInfo& b) {
  const std::vector<std::size_t> left = without_sizes(a), right = without_sizes(b);
  ParameterPairs pairs;
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (!fit(a.parameters[left[i]], b.parameters[right[i]])) {
      return Status(ErrorCode::invalid_argument, a.name + " takes " + parameter_text(a, left[i]) + " where " + b.name +
                                                     " takes " + parameter_text(b, right[i]));
    }
    pairs.emplace_back(left[i], right[i]);
  }
  if (left.size() != right.size()) {
    return Status(ErrorCode::invalid_argument, a.name + " takes " + std::to_string(left.size()) +
                                                   " arguments beside sizes, " + b.name + " takes " +
                                                   std::to_string(right.size()));
  }
  return pairs;
}

}  // namespace ferry::verify
