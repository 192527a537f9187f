// What the primitives that make stages share.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace ferry::schedule {

// An intermediate tensor.
ir::BufferRef make_tensor(const std::string& name, DType dtype, const std::vector<ir::Axis>& axes);
// Axes of the same names and ranges with variables of their own; adds old variable -> new one to `renamed`.
std::vector<ir::Axis> fresh_axes(const std::vector<ir::Axis>& axes,
                                 std::unordered_map<const ir::ExprNode*, Expr>& renamed);
// Of the name of a copy that is kept there: ".local".
std::string suffix_of(ir::Scope scope);
std::vector<Expr> variables_of(const std::vector<ir::Axis>& axes);

}  // namespace ferry::schedule
