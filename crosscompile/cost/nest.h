// A function's loops as the cost model sees them: a tree of serial loops, each with the straight-line code of an
// iteration. Loops that become vectors or copies of their bodies are part of the code.
#pragma once

#include "crosscompile/cost/linear_index.h"
#include "crosscompile/ir/function.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ferry::cost {

// An unrolled or vectorized loop around a statement.
struct Replica {
  const ir::ExprNode* var = nullptr;
  double extent = 1;
  bool is_vector = false;
};

// A statement of straight-line code: it stores a value, or prefetches the load that `value` is.
struct Step {
  const ir::Store* store = nullptr;  // null: nothing is stored
  ir::Expr value;
  std::vector<Replica> replicas;  // the outermost first
  // In which share of the iterations of the loop and the unrolled loops around it the step runs for any lane at least,
  // and in which it does not run for all lanes.
  double share = 1, partial_share = 0;
};

struct LoopNest {
  const ir::ExprNode* var = nullptr;  // null: the function's body
  double extent = 1;                  // on average
  double share = 1;                   // iterations around it in which it runs, of all
  bool is_parallel = false;
  std::vector<Step> steps;
  std::vector<std::unique_ptr<LoopNest>> inner;
};

struct FunctionNest {
  LoopNest body;
  Variables variables;
};

// Sizes must be known: loops of other extents count as one of 64 iterations.
FunctionNest nest_of(const ir::Function& function);

}  // namespace ferry::cost
