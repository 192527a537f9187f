// A reduction's partial results where each thread of a block has one.
#pragma once

#include "host/lower/accumulators.h"

namespace ferry::lower {

bool is_on_thread(const LoopCopy& copy);

// In shared memory, an element for each iteration of `partial` and of the loops over threads `around`, except over the
// axes of `threads`, which are among the partial ones.
Accumulators make_thread_accumulators(const ir::Reduce& reduce, std::vector<LoopCopy> around,
                                      const std::vector<LoopCopy>& partial, const std::vector<LoopCopy>& threads,
                                      const std::string& name);
// total = combine(total, acc) over the threads.
Stmt combine_threads(const ir::Reduce& reduce, const Accumulators& total, const Accumulators& acc,
                     std::vector<LoopCopy> threads);
// Each component of combine(first, total).
std::vector<Expr> joined(const ir::Reduce& reduce, const std::vector<Expr>& first, const Accumulators& total);

}  // namespace ferry::lower
