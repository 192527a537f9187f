#include "crosscompile/passes/loops/specialize_full_tiles.h"

#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/passes/loops/fresh_copy.h"
#include "crosscompile/passes/loops/full_tile.h"
#include "ferry/operators.h"

#include <algorithm>
#include <utility>

namespace ferry::passes {
namespace {

using namespace ir;

// Turns unrolled loops back into serial ones, in code that runs too rarely to be worth the size of the copies.
class Rerolled : public Mutator {
 protected:
  using Mutator::mutate_node;
  Stmt mutate_node(const For& node, const Stmt& self) override {
    const Stmt result = Mutator::mutate_node(node, self);
    const auto* loop = result.as<For>();
    if (loop == nullptr || loop->for_kind != ForKind::unrolled) return result;
    return For::make(loop->var, loop->min, loop->extent, ForKind::serial, loop->body);
  }
};

class Doubler : public Mutator {
 public:
  explicit Doubler(const Function& function) : assumptions_(function) {}

 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const For& node, const Stmt& self) override {
    const bool is_on_gpu = is_block(node.for_kind) || is_thread(node.for_kind);
    if (in_kernel_ && !is_on_gpu && as_int(node.extent) != nullptr && !is_collective(node.body)) {
      if (Stmt versioned = with_whole_copy(self)) return versioned;
    }
    const Assumptions::Loop in_loop(assumptions_, node.var, node.min, node.extent);
    const bool had = std::exchange(in_kernel_, in_kernel_ || is_on_gpu);
    Stmt result = Mutator::mutate_node(node, self);
    in_kernel_ = had;
    return result;
  }

  Stmt mutate_node(const LetStmt& node, const Stmt& self) override {
    const Assumptions::Let defined(assumptions_, node.var, node.value);
    return Mutator::mutate_node(node, self);
  }

  Stmt mutate_node(const If& node, const Stmt& self) override {
    return rewrite_sides(node, self, node.condition, assumptions_, [this](const Stmt& side) { return mutate(side); });
  }

 private:
  // Returns nothing when no guard is known to hold in a full tile.
  Stmt with_whole_copy(const Stmt& loop) {
    FullTile tile;
    bool is_inside = false;  // whether a guard is tested in every iteration of an inner loop
    for (const Guard& guard : find_guards(loop, assumptions_)) {
      const bool is_short = std::all_of(guard.inner.begin(), guard.inner.end(),
                                        [](const analysis::Range& range) { return as_int(range.extent) != nullptr; });
      const auto worst = is_short ? analysis::lower_bound(guard.margin, guard.inner) : std::nullopt;
      const Expr holds = worst ? assumptions_.simplify(*worst >= 0) : Expr(0);
      if (is_constant(holds, 0)) continue;
      is_inside = is_inside || !guard.inner.empty();
      tile.add(guard, holds);
    }
    if (!is_inside) return {};
    const Expr condition = tile.condition(assumptions_);
    if (as_int(condition) != nullptr) return {};
    const Stmt full = tile.full(loop);
    if (!full.defined()) return {};
    const Stmt other = Rerolled().mutate(loop);
    return choose_version(condition, fresh_copy(full), other);
  }

  Assumptions assumptions_;
  bool in_kernel_ = false;  // whether loops over blocks or threads enclose this place
};

}  // namespace

Function specialize_full_tiles(Function function) {
  if (function.body.defined()) function.body = Doubler(function).mutate(function.body);
  return function;
}

}  // namespace ferry::passes
