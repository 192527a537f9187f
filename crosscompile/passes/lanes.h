// Vector arithmetic that keeps addresses recognisable: what is affine in the lane stays one Ramp, so that code
// generation sees consecutive elements.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::passes {

// The value in all lanes; vectors of that many lanes come back as they are. InternalError for any other number.
ir::Expr widen(const ir::Expr& value, std::uint32_t lanes);

// Makes the operation, widening a scalar side, with integer Ramp and Broadcast operands combined where the result is
// one.
ir::Expr lane_binary(ir::BinaryOp op, const ir::Expr& left, const ir::Expr& right);

}  // namespace ferry::passes
