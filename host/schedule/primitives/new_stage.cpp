#include "host/schedule/primitives/new_stage.h"

namespace ferry::schedule {

std::shared_ptr<ir::Buffer> make_tensor(const std::string& name, DType dtype, const std::vector<ir::Axis>& axes) {
  auto buffer = std::make_shared<ir::Buffer>();
  buffer->name = name;
  buffer->dtype = dtype;
  for (const ir::Axis& axis : axes) buffer->shape.push_back(axis.extent);
  buffer->scope = ir::Scope::global;
  return buffer;
}

std::vector<ir::Axis> fresh_axes(const std::vector<ir::Axis>& axes,
                                 std::unordered_map<const ir::ExprNode*, Expr>& renamed) {
  std::vector<ir::Axis> fresh;
  for (const ir::Axis& axis : axes) {
    const auto* var = axis.var.as<ir::Var>();
    fresh.push_back({ir::Var::make(var->name, var->type), axis.min, axis.extent});
    renamed[axis.var.get()] = fresh.back().var;
  }
  return fresh;
}

std::string suffix_of(ir::Scope scope) {
  switch (scope) {
    case ir::Scope::local: return ".local";
    case ir::Scope::shared: return ".shared";
    default: return ".global";
  }
}

std::vector<Expr> variables_of(const std::vector<ir::Axis>& axes) {
  std::vector<Expr> variables;
  for (const ir::Axis& axis : axes) variables.push_back(axis.var);
  return variables;
}

}  // namespace ferry::schedule
