#include "module/manifest.h"

namespace ferry {
namespace {

const char* direction_text(Direction direction) {
  switch (direction) {
    case Direction::in: return "in ";
    case Direction::out: return "out ";
    case Direction::inout: return "inout ";
  }
  return "";
}

template <class Sizes, class Text>
std::string bracketed(const Sizes& sizes, Text text) {
  std::string result = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i != 0) result += ',';
    result += text(sizes[i]);
  }
  return result + "]";
}

}  // namespace

std::string shape_text(DType dtype, std::span<const std::int64_t> shape) {
  return dtype_name(dtype) + bracketed(shape, [](std::int64_t size) { return std::to_string(size); });
}

std::string signature_text(const FunctionInfo& function) {
  const auto text = [&](const ManifestExpr& expr) { return to_text(expr, function.symbols); };
  std::string result = function.name + "(";
  for (const ParameterInfo& parameter : function.parameters) {
    if (result.back() != '(') result += ", ";
    result += direction_text(parameter.direction);
    result += dtype_name(parameter.dtype);
    if (parameter.kind == ParameterKind::tensor) result += bracketed(parameter.shape, text);
    if (!parameter.strides.empty()) result += " strides" + bracketed(parameter.strides, text);
    result += ' ' + parameter.name;
  }
  return result + ")";
}

}  // namespace ferry
