#include "crosscompile/passes/tensorize/tile_sums.h"

#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/prefetch.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/zero.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/passes/tensorize/match_nest.h"
#include "crosscompile/passes/tensorize/tile_dot.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

using Sums = std::vector<Expr>;  // the arguments of a tile_dot that stand for its tiles of sums; empty: none

bool is_same(const Sums& a, const Sums& b) {
  return std::ranges::equal(a, b, [](const Expr& x, const Expr& y) { return equal(x, y); });
}

Sums unless_used(Sums sums, const Expr& var) {
  const bool differs = std::ranges::any_of(sums, [&](const Expr& each) { return uses_var(each, var); });
  return differs ? Sums{} : std::move(sums);
}

bool is_prefetch(const Stmt& stmt) {
  const auto* evaluate = stmt.as<Evaluate>();
  return evaluate != nullptr && prefetched(*evaluate) != nullptr;
}

// Returns the sums to which the statement adds tile_dots, if it does nothing else and they are the same throughout.
Sums sums_of(const Stmt& stmt) {
  if (const auto* instruction = stmt.as<InstructionStmt>()) {
    if (instruction->instruction != Instruction::tile_dot) return {};
    const SumTiles tiles = sum_tiles(*instruction);
    return {tiles.arguments.begin(), tiles.arguments.end()};
  }
  if (const auto* loop = stmt.as<For>())
    return loop->for_kind == ForKind::serial ? unless_used(sums_of(loop->body), loop->var) : Sums{};
  if (const auto* branch = stmt.as<If>()) return branch->on_false.defined() ? Sums{} : sums_of(branch->on_true);
  if (const auto* let = stmt.as<LetStmt>()) return unless_used(sums_of(let->body), let->var);
  const auto* block = stmt.as<Block>();
  if (block == nullptr) return {};
  Sums all;
  for (const Stmt& one : block->body) {
    if (is_prefetch(one)) continue;
    Sums sums = sums_of(one);
    if (sums.empty() || (!all.empty() && !is_same(all, sums))) return {};
    all = std::move(sums);
  }
  return all;
}

// Whether the statement stores zeros to the tiles, and to nothing else, under these conditions. Rows that are not real
// need none.
bool clears(const Stmt& stmt, const InstructionStmt& dot, const std::vector<Expr>& conditions) {
  const auto nest = as_nest(stmt);
  if (!nest) return false;
  std::vector<Expr> others;
  for (const Expr& condition : nest->conditions)
    if (std::ranges::none_of(nest->loops, [&](const auto& loop) { return uses_var(condition, loop.var); }))
      others.push_back(condition);
  if (!is_same(others, conditions)) return false;
  const Store& store = *nest->store.as<Store>();
  const SumTiles tiles = sum_tiles(dot);
  const auto position = [&](std::int64_t i, std::int64_t j) {
    return addressed(tiles.sums[static_cast<std::size_t>(i * tiles.column_tiles + j)])->indices.at(0);
  };
  std::string mismatch;
  const auto access = affine_access(store.buffer, store.indices, nest->loops, mismatch);
  if (!access || !is_positive_zero(store.value) || store.mask.defined() ||
      store.buffer != addressed(tiles.sums[0])->buffer || !can_prove(access->base == position(0, 0)))
    return false;
  struct Level {
    std::int64_t extent;
    Expr stride;
  };
  std::vector<Level> levels;
  if (tiles.row_tiles > 1) levels.push_back({tiles.row_tiles, position(1, 0) - position(0, 0)});
  if (tiles.column_tiles > 1) levels.push_back({tiles.column_tiles, position(0, 1) - position(0, 0)});
  levels.push_back({kTileColumns, Expr(1)});
  if (tiles.full_rows > 1) levels.push_back({tiles.full_rows, tiles.row_stride});
  for (std::size_t l = 0; l < nest->loops.size(); ++l) {
    const auto same = std::ranges::find_if(levels, [&](const Level& level) {
      return level.extent == nest->loops[l].extent && can_prove(level.stride == access->strides[l]);
    });
    if (same == levels.end()) return false;
    levels.erase(same);
  }
  return levels.empty();
}

// Appends the conditions that are the same throughout the statement, whose loops have the variables `inside`. Returns
// false if there are others for a part of it.
bool add_conditions(const Stmt& stmt, std::vector<Expr>& inside, std::vector<Expr>& conditions) {
  if (const auto* loop = stmt.as<For>()) {
    inside.push_back(loop->var);
    return add_conditions(loop->body, inside, conditions);
  }
  if (const auto* let = stmt.as<LetStmt>()) {
    inside.push_back(let->var);
    return add_conditions(let->body, inside, conditions);
  }
  if (const auto* branch = stmt.as<If>()) {
    const bool differs = std::ranges::any_of(inside, [&](const Expr& var) { return uses_var(branch->condition, var); });
    if (!differs) conditions.push_back(branch->condition);
    return add_conditions(branch->on_true, inside, conditions);
  }
  const auto* block = stmt.as<Block>();
  if (block == nullptr) return true;
  std::vector<Expr> own;
  for (const Stmt& one : block->body)
    if (!add_conditions(one, inside, own) || !own.empty()) return false;
  return true;
}

// Returns the conditions under which the results exist whose sums the statement updates; nothing if they differ within
// it. Sums on the stack always exist.
std::optional<std::vector<Expr>> conditions_of(const Stmt& stmt, const Sums& sums) {
  std::vector<Expr> inside, conditions;
  for (const Expr& each : sums) {
    const Load* sum = addressed(each);
    if (sum != nullptr && sum->buffer->scope == Scope::local) return conditions;
  }
  if (!add_conditions(stmt, inside, conditions)) return std::nullopt;
  return conditions;
}

// Returns a tile_dot of the statement, all of whose tile_dots have the same sums.
const InstructionStmt* dot_in(const Stmt& stmt) {
  if (const auto* instruction = stmt.as<InstructionStmt>()) return instruction;
  if (const auto* loop = stmt.as<For>()) return dot_in(loop->body);
  if (const auto* branch = stmt.as<If>()) return dot_in(branch->on_true);
  if (const auto* let = stmt.as<LetStmt>()) return dot_in(let->body);
  const auto* block = stmt.as<Block>();
  if (block == nullptr) return nullptr;
  for (const Stmt& one : block->body)
    if (const InstructionStmt* found = dot_in(one)) return found;
  return nullptr;
}

Stmt held(const Sums& sums, const std::vector<Expr>& conditions, bool from_zero, Stmt definition) {
  std::vector<Expr> arguments = sums;
  arguments.push_back(Expr(from_zero ? 1 : 0));
  Stmt result = InstructionStmt::make(Instruction::tile_sums, std::move(arguments), std::move(definition));
  for (const Expr& condition : conditions) result = If::make(condition, std::move(result));
  return result;
}

class Holder : public Mutator {
 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const For& node, const Stmt& self) override {
    return found(self, [&] { return inside(node, self); });
  }
  Stmt mutate_node(const If& node, const Stmt& self) override {
    return found(self, [&] { return inside(node, self); });
  }
  Stmt mutate_node(const LetStmt& node, const Stmt& self) override {
    return found(self, [&] { return inside(node, self); });
  }
  Stmt mutate_node(const InstructionStmt& node, const Stmt& self) override {
    return found(self, [&] { return inside(node, self); });
  }

  Stmt mutate_node(const Block& node, const Stmt& self) override {
    std::vector<Stmt> all;
    bool changed = false;
    for (std::size_t i = 0; i < node.body.size(); ++i) {
      const Sums sums = sums_of(node.body[i]);
      const auto conditions = sums.empty() ? std::nullopt : conditions_of(node.body[i], sums);
      if (!conditions) {
        all.push_back(mutate(node.body[i]));
        changed |= !all.back().same_as(node.body[i]);
        continue;
      }
      changed = true;
      const InstructionStmt& dot = *dot_in(node.body[i]);
      std::vector<Stmt> adding{node.body[i]};
      const auto continues = [&](const Stmt& next) {
        if (!is_same(sums_of(next), sums)) return false;
        const auto others = conditions_of(next, sums);
        return others && is_same(*others, *conditions);
      };
      while (i + 1 < node.body.size() && continues(node.body[i + 1])) adding.push_back(node.body[++i]);
      const bool from_zero = !all.empty() && clears(all.back(), dot, *conditions);
      if (from_zero) {
        adding.insert(adding.begin(), std::move(all.back()));
        all.pop_back();
      }
      all.push_back(held(sums, *conditions, from_zero, Block::make(std::move(adding))));
    }
    return changed ? Block::make(std::move(all)) : self;
  }

 private:
  template <class Node>
  Stmt inside(const Node& node, const Stmt& self) {
    return Mutator::mutate_node(node, self);
  }

  template <class Otherwise>
  static Stmt found(const Stmt& self, const Otherwise& otherwise) {
    const Sums sums = sums_of(self);
    const auto conditions = sums.empty() ? std::nullopt : conditions_of(self, sums);
    return conditions ? held(sums, *conditions, false, self) : otherwise();
  }
};

}  // namespace

Function tile_sums(Function function) {
  if (function.body.defined()) function.body = Holder().mutate(function.body);
  return function;
}

}  // namespace ferry::passes
