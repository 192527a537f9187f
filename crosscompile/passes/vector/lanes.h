// Vector arithmetic that keeps addresses recognisable: an expression that is affine in the lane stays a single Ramp, so
// that code generation sees consecutive elements.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::passes {

// Returns the value in all lanes; vectors with that many lanes are returned as they are. Throws InternalError for any
// other number.
ir::Expr widen(const ir::Expr& value, std::uint32_t lanes);

// Makes the operation, broadcasting a scalar side, and combines integer Ramp and Broadcast operands into one where
// possible.
ir::Expr lane_binary(ir::BinaryOp op, const ir::Expr& left, const ir::Expr& right);

}  // namespace ferry::passes
