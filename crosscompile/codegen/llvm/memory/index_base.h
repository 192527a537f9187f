// Splits indices into a base and a constant, so that loads beside each other are found by equal bases.
#pragma once

#include "crosscompile/analysis/atoms.h"

#include <cstdint>
#include <optional>

namespace ferry::codegen {

struct IndexBase {
  analysis::Polynomial base;  // without a constant
  std::int64_t offset = 0;
};

// `index` is undefined for 0. Bases of the same atoms are equal if the same is added to both constants, modulo 2^64.
// Returns nothing if the index is too large to compare, if the offset is so large that sums of offsets could overflow,
// or if the base depends on memory, which may change between statements.
std::optional<IndexBase> split_index(analysis::Atoms& atoms, const ir::Expr& index);

}  // namespace ferry::codegen
