// Conversion of operands before they are multiplied.
#pragma once

#include "ferry/lang/tensor.h"

#include <optional>

namespace ferry::ops {

// Returns the value in this type, if one is given.
inline lang::Expr converted(const lang::Expr& value, std::optional<DType> type) {
  return type ? ir::cast(*type, value) : value;
}

}  // namespace ferry::ops
