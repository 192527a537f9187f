// Instructions that multiply groups of narrow numbers and add them up: what "dot" of ir/expr.h becomes where the target
// has one, and what tensorize can put in the place of a loop nest.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

#include <span>
#include <string_view>

namespace ferry::passes {

struct DotInstruction {
  std::string_view name;
  std::string_view arch;
  std::string_view features[2];  // all needed; empty: none
  DType sum, left, right;
  std::uint32_t lanes;  // of the sum
  std::uint32_t group;  // products a lane
  // Makes zeros of subnormal operands and results, and rounds once a lane.
  bool flushes = false;
};

std::span<const DotInstruction> dot_instructions();

// The one to use for a dot of these types with as many lanes in its sum: the widest that is not wider, or the
// narrowest. Null when the target has none.
const DotInstruction* find_dot(const Target& target, DType sum, DType left, DType right, std::uint32_t lanes,
                               std::uint32_t group);

// What an instruction means, on buffers of the instruction's sizes:
//   for (i = 0; i < lanes; ++i) for (j = 0; j < group; ++j) sum[i] += left[i*group + j] * right[i*group + j]
ir::Function dot_meaning(const DotInstruction& instruction);

// sum[first, first + lanes) += dot of `left` and `right`, vectors of lanes * group elements.
ir::Stmt dot_statement(const DotInstruction& instruction, const ir::BufferRef& sum, const ir::Expr& first,
                       const ir::Expr& left, const ir::Expr& right);

// The index of `group` elements from `first` on, again and again for all lanes: what one row of a matrix product is for
// all its columns. Code generation makes one scalar load and a broadcast of it.
ir::Expr repeated_index(const ir::Expr& first, std::uint32_t group, std::uint32_t lanes);

}  // namespace ferry::passes
