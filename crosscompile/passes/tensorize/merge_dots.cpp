#include "crosscompile/passes/tensorize/merge_dots.h"

#include "crosscompile/analysis/ranges.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

const Call* dot_of(const Expr& value) {
  const auto* call = value.as<Call>();
  return call != nullptr && call->callee.op == CallOp::dot ? call : nullptr;
}

bool is_equal(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::ranges::equal(a, b, [](const Expr& x, const Expr& y) { return equal(x, y); });
}

// Returns the statement if it adds a dot of two loads to elements of an array of the function's own, and the dot can be
// added up with another one. Null for others.
const Store* update_of(const Stmt& stmt) {
  const auto* store = stmt.as<Store>();
  if (store == nullptr || store->buffer->scope != Scope::local || store->mask.defined()) return nullptr;
  const Call* dot = dot_of(store->value);
  if (dot == nullptr ||
      (!analysis::is_above_minimum(dot->arguments[1]) && !analysis::is_above_minimum(dot->arguments[2])))
    return nullptr;
  const auto* sum = dot->arguments[0].as<Load>();
  if (sum == nullptr || sum->buffer != store->buffer || !is_equal(sum->indices, store->indices)) return nullptr;
  for (const std::size_t factor : {1, 2}) {
    const auto* load = dot->arguments[factor].as<Load>();
    if (load == nullptr || load->buffer->scope == Scope::local) return nullptr;
  }
  return store;
}

void flatten(const Stmt& stmt, std::vector<Stmt>& all) {
  if (const auto* block = stmt.as<Block>())
    for (const Stmt& one : block->body) flatten(one, all);
  else
    all.push_back(stmt);
}

bool is_same(const Store& a, const Store& b) { return a.buffer == b.buffer && is_equal(a.indices, b.indices); }

// The elements along a dimension that an index stands for, if they are constant.
std::optional<std::pair<std::int64_t, std::int64_t>> range_of(const Expr& index) {
  const auto* ramp = index.as<Ramp>();
  const std::int64_t* first = as_int(ramp != nullptr ? ramp->base : index);
  if (first == nullptr || (ramp != nullptr && !is_constant(ramp->stride, 1))) return std::nullopt;
  return std::pair(*first, *first + index.type().lanes);
}

// Whether two statements certainly update different elements.
bool is_apart(const Store& a, const Store& b) {
  if (a.buffer != b.buffer) return true;
  for (std::size_t d = 0; d < a.indices.size(); ++d) {
    const auto first = range_of(a.indices[d]), second = range_of(b.indices[d]);
    if (first && second && (first->second <= second->first || second->second <= first->first)) return true;
  }
  return false;
}

class Merger : public Mutator {
 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const Block& node, const Stmt& self) override {
    std::vector<Stmt> all;
    flatten(self, all);
    bool merged = false;
    // The statements that a later one may join: only updates of other elements stand in between.
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Store* update = update_of(all[i]);
      const auto store = [&](std::size_t at) -> const Store& { return *all[at].as<Store>(); };
      if (update == nullptr || !std::ranges::all_of(open, [&](std::size_t at) {
            return is_same(store(at), *update) || is_apart(store(at), *update);
          }))
        open.clear();
      if (update == nullptr) continue;
      const auto earlier = std::ranges::find_if(open, [&](std::size_t at) { return is_same(store(at), *update); });
      if (earlier == open.end()) {
        open.push_back(i);
        continue;
      }
      const Call& dot = *dot_of(update->value);
      all[i] =
          Store::make(update->buffer, update->indices,
                      Call::make(dot.type, CallOp::dot, {store(*earlier).value, dot.arguments[1], dot.arguments[2]}));
      all[*earlier] = {};
      open.erase(earlier);
      merged = true;
    }
    if (!merged) return Mutator::mutate_node(node, self);
    std::erase_if(all, [](const Stmt& stmt) { return !stmt.defined(); });
    for (Stmt& stmt : all) stmt = mutate(stmt);
    return Block::make(std::move(all));
  }
};

}  // namespace

Function merge_dots(Function function) {
  function.body = Merger().mutate(function.body);
  return function;
}

}  // namespace ferry::passes
