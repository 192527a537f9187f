#include "tests/fuzz/cases/elements.h"

#include <utility>

namespace ferry::fuzz {

std::string access(const Tensor& tensor, const std::vector<std::string>& indices) {
  std::string list;
  for (const std::string& one : indices) list += (list.empty() ? "" : ",") + one;
  return tensor.name + (indices.empty() ? "" : "(" + list + ")");
}

Node earlier_element(Random& random, const Tensor& tensor, const std::vector<NamedAxis>& axes, std::size_t along,
                     std::int64_t distance) {
  std::vector<std::string> indices;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const NamedAxis& axis = axes[a];
    if (a == along)
      indices.push_back(axis.name + "-" + std::to_string(distance));
    else
      indices.push_back(random.chance(20) ? axis.extent.text() + "-1-" + axis.name : axis.name);
  }
  return {access(tensor, indices), tensor.type, {}, tensor.exact};
}

Node from(std::int64_t begin, const NamedAxis& axis, Node element) {
  const DType type = element.type;
  const bool exact = element.exact;
  Node constant{type == DType::boolean ? "false" : std::string(type_text(type)) + "(1)", type};
  const std::string condition = axis.name + " >= " + std::to_string(begin);
  return {"(" + condition + " ? $0 : $1)", type, {std::move(element), std::move(constant)}, exact};
}

Node combined(Random& random, const Tensor& tensor, Node element, Node other) {
  const bool exact = element.exact && other.exact;
  const char* const operation = tensor.type == DType::boolean       ? "($1 || $0)"
                                : !is_float(tensor.type)            ? "($0 * 3 + $1)"
                                : tensor.exact || random.chance(30) ? "min($0, $1)"
                                                                    : "($0 * 0.5 + $1)";
  return {operation, tensor.type, {std::move(element), std::move(other)}, exact};
}

}  // namespace ferry::fuzz
