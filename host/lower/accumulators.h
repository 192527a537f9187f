// The accumulators of a reduction: arrays of partial results, or the results themselves.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/lower/nest.h"

#include <string>
#include <vector>

namespace ferry::lower {

using ir::Expr;
using ir::Stmt;

// Partial results of one reduction: an array for each component of the tuple, with the same indices.
struct Accumulators {
  std::vector<ir::BufferRef> buffers;
  std::vector<std::vector<Expr>> indices;  // one for each buffer
  bool are_local = true;                   // allocated here, rather than the results themselves

  Expr load(std::size_t i) const { return ir::Load::make(buffers[i], indices[i]); }
  Stmt store(std::size_t i, Expr value) const { return ir::Store::make(buffers[i], indices[i], std::move(value)); }
};

// Whether partial results for all iterations of these loops are small enough for the stack.
bool fits_stack(const ir::Reduce& reduce, const std::vector<LoopCopy>& loops);

// Makes an element for each iteration of the loops: on the stack if they fit, otherwise in the workspace. Each buffer's
// `component` is its component of the tuple.
Accumulators make_accumulators(const ir::Reduce& reduce, const std::vector<LoopCopy>& loops, const std::string& name);
// The same in memory shared by all threads of a block.
Accumulators make_shared_accumulators(const ir::Reduce& reduce, const std::vector<LoopCopy>& loops,
                                      const std::string& name);

// Wraps the body in the allocations of the arrays.
Stmt allocated(const Accumulators& accumulators, Stmt body);

// accumulators = combine(accumulators, values), for all components at once.
Stmt combine(const ir::Reduce& reduce, const Accumulators& into, const std::vector<Expr>& values);
Stmt store_each(const Accumulators& into, const std::vector<Expr>& values);

}  // namespace ferry::lower
