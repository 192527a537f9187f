#include "host/lower/thread_reduction.h"

#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::lower {

using namespace ir;

bool is_on_thread(const LoopCopy& copy) { return is_thread(copy.loop.kind); }

Accumulators make_thread_accumulators(const Reduce& reduce, std::vector<LoopCopy> around,
                                      const std::vector<LoopCopy>& partial, const std::vector<LoopCopy>& threads,
                                      const std::string& name) {
  std::erase_if(around, [&](const LoopCopy& copy) {
    const auto has_axis = [&](const LoopCopy& thread) { return thread.loop.kind == copy.loop.kind; };
    return !is_on_thread(copy) || std::any_of(threads.begin(), threads.end(), has_axis);
  });
  around.insert(around.end(), partial.begin(), partial.end());
  return make_shared_accumulators(reduce, around, name);
}

Stmt combine_threads(const Reduce& reduce, const Accumulators& total, const Accumulators& acc,
                     std::vector<LoopCopy> threads) {
  Substitution again;
  for (LoopCopy& copy : threads) {
    const Expr var = Var::make(copy.loop.name);
    again[copy.loop.var.get()] = var;
    copy.loop.var = var;
  }
  std::vector<Expr> values;
  for (std::size_t i = 0; i < acc.buffers.size(); ++i) values.push_back(substitute(acc.load(i), again));
  Stmt body = combine(reduce, total, values);
  for (auto copy = threads.rbegin(); copy != threads.rend(); ++copy)
    body = For::make(copy->loop.var, Expr(0), copy->loop.extent, ForKind::combine, std::move(body));
  return body;
}

std::vector<Expr> combined_with_total(const Reduce& reduce, const std::vector<Expr>& first, const Accumulators& total) {
  Substitution operands;
  for (std::size_t i = 0; i < first.size(); ++i) {
    operands[reduce.reducer->left[i].get()] = first[i];
    operands[reduce.reducer->right[i].get()] = total.load(i);
  }
  std::vector<Expr> values;
  for (const Expr& value : reduce.reducer->combine) values.push_back(substitute(value, operands));
  return values;
}

}  // namespace ferry::lower
