#include "host/lang/text/scope.h"

#include "host/lang/names.h"
#include "host/lang/stages.h"
#include "host/lang/text/build_expression.h"

namespace ferry::lang {

Expr Scope::size(std::string_view name) const {
  if (const auto found = sizes.find(name); found != sizes.end()) return found->second;
  if (const auto found = scalars.find(name); found != scalars.end() && found->second.type() == ir::kIndex) {
    return found->second;
  }
  return {};
}

bool Scope::has(std::string_view name) const {
  return sizes.contains(name) || scalars.contains(name) || tensors.contains(name);
}

std::vector<std::string> Scope::names() const {
  std::vector<std::string> all;
  for (const auto& [name, size] : sizes) all.push_back(name);
  for (const auto& [name, scalar] : scalars) all.push_back(name);
  for (const auto& [name, tensor] : tensors) all.push_back(name);
  return all;
}

void Scope::check_not_later(std::string_view name, std::size_t offset) const {
  if (tensors.contains(name) || !computed.contains(name)) return;
  throw source->error(
      offset,
      "'" + std::string(name) + "' is used before it is computed; if the caller passes it in, list it as an argument");
}

Expr size_expression(const Scope& scope, const Syntax& syntax, const char* where) {
  ExpressionBuilder builder(scope, false);
  const Expr expr = builder.build(syntax, DType::i64);
  if (!builder.uses().empty()) {
    throw scope.source->error(syntax.offset,
                              std::string("expected sizes and integers in ") + where + ", got a tensor's element");
  }
  if (!expr.type().is_int() && !expr.type().is_bool()) {
    throw scope.source->error(syntax.offset,
                              std::string("expected integers in ") + where + ", got " + ir::to_text(expr.type()));
  }
  return expr;
}

}  // namespace ferry::lang
