// Decides whether a loop nest computes the same as another one, for tensorize.
#pragma once

#include "crosscompile/ir/function.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ferry::passes {

// One store inside of loops that start at 0, outermost first.
struct LoopNest {
  struct Loop {
    ir::Expr var;
    std::int64_t extent = 0;
  };
  std::vector<Loop> loops;
  std::vector<ir::Expr> conditions;  // all must hold for the store to execute
  ir::Stmt store;
};

// Returns nothing when the statement is not a nest of loops with constant extents and conditions around one store.
std::optional<LoopNest> as_nest(const ir::Stmt& stmt);

// The positions that a nest accesses in one buffer.
struct AffineAccess {
  ir::Expr base;                  // the position, in elements, in the first iteration of all loops
  std::vector<ir::Expr> strides;  // the difference to the next iteration of each loop
};

// Returns the positions that an access to these indices of the buffer has in the loops; nothing, and the reason in
// `mismatch`, where it does not move evenly along all of them.
std::optional<AffineAccess> affine_access(const ir::BufferRef& buffer, const std::vector<ir::Expr>& indices,
                                          const std::vector<LoopNest::Loop>& loops, std::string& mismatch);

struct NestMatch {
  struct Operand {
    ir::BufferRef pattern, buffer;
    AffineAccess expected, got;  // strides along the pattern's loops
  };
  std::vector<Operand> operands;  // one per parameter of the pattern
  std::vector<ir::Expr> symbols;  // values of the pattern's symbols
  std::vector<ir::Expr> conditions;
};

// Returns what is wrong with a match, "expected X, got Y", or ""; may set its symbols.
using MatchCheck = std::function<std::string(NestMatch& match)>;

// The pattern is a function whose body is a nest; its parameters are all the buffers it uses. The nest may have its
// loops in another order, and the operands of sums and products swapped. `mismatch`: "expected X, got Y".
std::optional<NestMatch> match_nest(const ir::Function& pattern, const LoopNest& nest, const MatchCheck& check,
                                    std::string& mismatch);

// Checks that the operands' strides are the pattern's; strides that are symbols of the pattern may have any value.
std::string check_strides(const ir::Function& pattern, NestMatch& match);

}  // namespace ferry::passes
