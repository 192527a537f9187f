// Helpers shared by the primitives that make stages.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace ferry::schedule {

// Makes an intermediate tensor.
std::shared_ptr<ir::Buffer> make_tensor(const std::string& name, DType dtype, const std::vector<ir::Axis>& axes);
// Returns axes with the same names and ranges but new variables; adds old variable -> new one to `renamed`.
std::vector<ir::Axis> fresh_axes(const std::vector<ir::Axis>& axes,
                                 std::unordered_map<const ir::ExprNode*, Expr>& renamed);
// Returns the suffix of the name of a copy in that scope: ".local".
std::string suffix_of(ir::Scope scope);
std::vector<Expr> variables_of(const std::vector<ir::Axis>& axes);

}  // namespace ferry::schedule
