// Extracts one lane of a vector expression as a scalar expression.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::passes {

// `lane` counts from 0 and may be any expression of type kIndex. A scalar is returned as it is. VectorReduce stays
// inside.
ir::Expr lane_of(const ir::Expr& vector, const ir::Expr& lane);

// Returns lane `lane` of a CallOp::dot: the sum's lane plus its group of products.
ir::Expr dot_lane(const ir::Call& dot, const ir::Expr& lane);

// Combines the lanes one after the other.
ir::Expr reduced(const ir::VectorReduce& node);

}  // namespace ferry::passes
