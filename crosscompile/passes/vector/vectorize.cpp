#include "crosscompile/passes/vector/vectorize.h"

#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/loops/fresh_copy.h"
#include "crosscompile/passes/vector/lane_mutator.h"
#include "ferry/operators.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace ferry::passes {
namespace {

using namespace ir;

class Vectorizer : public Mutator {
 public:
  Vectorizer(const Function& function, const Target& target)
      : target_(target),
        max_lanes_(std::max<std::int64_t>(4, std::int64_t{kMaxVectorRegisters} * target.lanes(4))),
        assumptions_(function) {
    for (const FunctionParameter& parameter : function.parameters) {
      if (parameter.direction == Direction::in) inputs_.insert(parameter.buffer.get());
    }
  }

 protected:
  using Mutator::mutate_node;

  // Keeps the loops of an instruction's definition.
  Stmt mutate_node(const InstructionStmt& node, const Stmt& self) override {
    return node.arguments.empty() ? Mutator::mutate_node(node, self) : self;
  }
  Stmt mutate_node(const For& node, const Stmt& self) override {
    const Assumptions::Loop in_loop(assumptions_, node.var, node.min, node.extent);
    // Inner loops come first: of two nested vectorized loops, the inner one becomes vectors and the outer one a loop of
    // them.
    Stmt result = Mutator::mutate_node(node, self);
    if (result && node.for_kind == ForKind::vectorized) result = replace(*result.as<For>());
    return result;
  }

  Stmt mutate_node(const If& node, const Stmt& self) override {
    return rewrite_sides(node, self, node.condition, assumptions_, [this](const Stmt& side) { return mutate(side); });
  }

 private:
  Stmt replace(const For& node) {
    const Expr extent = assumptions_.simplify(node.extent);
    const std::int64_t* known = as_int(extent);
    // Vectors have a constant number of lanes.
    if (known == nullptr) return serial(node);
    if (*known <= 0) return {};
    if (*known > max_lanes_) return in_pieces(node, *known);
    return vectors(node, static_cast<std::uint32_t>(*known));
  }

  Stmt vectors(const For& node, std::uint32_t lanes) {
    if (lanes == 1) return fresh_copy(node.body, {{node.var.get(), node.min}});
    LaneAnalysis analysis = analyze_lanes(node.body, node.var, assumptions_);
    if (!analysis.independent) return serial(node);
    return LaneMutator(target_, inputs_, {node.var, node.min, lanes}, std::move(analysis), assumptions_)
        .vectorize(node.body);
  }

  // Makes a loop over full vectors and one vector for the rest.
  Stmt in_pieces(const For& node, std::int64_t extent) {
    const std::int64_t pieces = extent / max_lanes_;
    const Expr piece = Var::make(node.var.as<Var>()->name + "_vector");
    const Stmt full =
        For::make(node.var, node.min + piece * Expr(max_lanes_), Expr(max_lanes_), ForKind::vectorized, node.body);
    std::vector<Stmt> parts{mutate(For::make(piece, 0, Expr(pieces), ForKind::serial, full))};
    if (const std::int64_t rest = extent % max_lanes_; rest > 0) {
      const Stmt tail =
          For::make(node.var, node.min + Expr(pieces * max_lanes_), Expr(rest), ForKind::vectorized, node.body);
      parts.push_back(fresh_copy(mutate(tail)));
    }
    return Block::make(std::move(parts));
  }

  static Stmt serial(const For& node) { return For::make(node.var, node.min, node.extent, ForKind::serial, node.body); }

  const Target& target_;
  std::int64_t max_lanes_;
  std::unordered_set<const Buffer*> inputs_;
  Assumptions assumptions_;
};

}  // namespace

Function vectorize(Function function, const Target& target) {
  function.body = Vectorizer(function, target).mutate(function.body);
  return function;
}

}  // namespace ferry::passes
