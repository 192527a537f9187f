// Reductions in which each thread of a block has a partial result.
#pragma once

#include "host/lower/accumulators.h"

namespace ferry::lower {

bool is_on_thread(const LoopCopy& copy);

// Makes shared accumulators with an element for each iteration of `partial` and of the thread loops `around`, except
// over the axes of `threads`, which are already among the partial ones.
Accumulators make_thread_accumulators(const ir::Reduce& reduce, std::vector<LoopCopy> around,
                                      const std::vector<LoopCopy>& partial, const std::vector<LoopCopy>& threads,
                                      const std::string& name);
// total = combine(total, acc) over the threads.
Stmt combine_threads(const ir::Reduce& reduce, const Accumulators& total, const Accumulators& acc,
                     std::vector<LoopCopy> threads);
// Returns each component of combine(first, total).
std::vector<Expr> combined_with_total(const ir::Reduce& reduce, const std::vector<Expr>& first,
                                      const Accumulators& total);

}  // namespace ferry::lower
