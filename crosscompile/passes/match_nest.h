// Whether a loop nest computes what another one says: the question tensorize asks.
#pragma once

#include "crosscompile/ir/function.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ferry::passes {

// One store inside of loops, outermost first, that start at 0.
struct LoopNest {
  struct Loop {
    ir::Expr var;
    std::int64_t extent = 0;
  };
  std::vector<Loop> loops;
  std::vector<ir::Expr> conditions;  // all must hold for the store to happen
  ir::Stmt store;
};

// Nothing when the statement is anything else than loops of constant extents and conditions around one store.
std::optional<LoopNest> as_nest(const ir::Stmt& stmt);

// How a nest goes through one buffer.
struct Walk {
  ir::Expr first;               // the position, in elements, in the first iteration of all loops
  std::vector<ir::Expr> steps;  // how much further it is in the next iteration of each loop
};

struct NestMatch {
  struct Operand {
    ir::BufferRef pattern, buffer;
    Walk expected, got;  // steps along the pattern's loops
  };
  std::vector<Operand> operands;  // one a parameter of the pattern
  std::vector<ir::Expr> symbols;  // values of the pattern's symbols
  std::vector<ir::Expr> conditions;
};

// Says what is wrong with a match, "expected X, got Y", or nothing; may set its symbols.
using MatchCheck = std::function<std::string(NestMatch& match)>;

// The pattern is a function whose body is a nest; its parameters are all the buffers it uses. The nest may have its
// loops in another order, and the sides of sums and products the other way round. `mismatch`: "expected X, got Y".
std::optional<NestMatch> match_nest(const ir::Function& pattern, const LoopNest& nest, const MatchCheck& check,
                                    std::string& mismatch);

// The operands' elements stand as far apart as the pattern's; strides that are symbols of the pattern may be anything.
std::string check_steps(const ir::Function& pattern, NestMatch& match);

}  // namespace ferry::passes
