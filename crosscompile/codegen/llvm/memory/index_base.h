// Splits indices into a base and a constant, so that loads beside each other are found by equal bases.
#pragma once

#include "ferry/expr.h"

#include <cstdint>
#include <optional>

namespace ferry::codegen {

struct IndexBase {
  ir::Expr base;  // undefined: 0
  std::int64_t offset = 0;
};

// `index` is simplified, or undefined for 0; the base may be a new expression. Returns nothing if the offset is so large that sums of offsets could
// overflow, or if the base depends on memory, which may change between statements.
std::optional<IndexBase> split_index(const ir::Expr& index);

bool is_same_base(const ir::Expr& a, const ir::Expr& b);

}  // namespace ferry::codegen
