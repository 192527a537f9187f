// Instructions, or short sequences of them, that multiply groups of narrow numbers and add the products: they implement
// CallOp::dot where the target has them, and tensorize can put them in the place of a loop nest.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <span>
#include <string_view>

namespace ferry::passes {

struct DotInstruction {
  std::string_view name;
  bool Capabilities::* needs;
  DType sum, left, right;
  std::uint32_t lanes;  // lanes that the sum has
  std::uint32_t group;  // number of products per lane
  // Whether it flushes subnormal operands and results to zero, and rounds once per lane.
  bool flushes = false;
  std::uint32_t instructions = 1;  // how many it takes
  std::uint32_t temporaries = 0;   // registers between them that code must spare
};

std::span<const DotInstruction> dot_instructions();

// Returns the instruction for a dot of these types with this many lanes in its sum: the widest that is not wider, or
// the narrowest. Null when the target has none.
const DotInstruction* find_dot(const Target& target, DType sum, DType left, DType right, std::uint32_t lanes,
                               std::uint32_t group);

// The same for factors in either order.
const DotInstruction* find_dot_of_factors(const Target& target, DType sum, DType one, DType other, std::uint32_t lanes,
                                          std::uint32_t group);

// Returns the semantics of an instruction, as a function on buffers of the instruction's sizes:
//   for (i = 0; i < lanes; ++i) for (j = 0; j < group; ++j) sum[i] += left[i*group + j] * right[i*group + j]
ir::Function dot_definition(const DotInstruction& instruction);

// Makes sum[first, first + lanes) += dot of `left` and `right`, which are vectors of lanes * group elements.
ir::Stmt dot_statement(const DotInstruction& instruction, const ir::BufferRef& sum, const ir::Expr& first,
                       const ir::Expr& left, const ir::Expr& right);

// Returns the index of `group` elements from `first` on, repeated for all lanes, as when one row of a matrix is
// multiplied with all columns. Code generation turns it into one scalar load and a broadcast.
ir::Expr repeated_index(const ir::Expr& first, std::uint32_t group, std::uint32_t lanes);

}  // namespace ferry::passes
