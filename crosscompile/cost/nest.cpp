#include "crosscompile/cost/nest.h"

#include "crosscompile/cost/average.h"
#include "crosscompile/ir/visitor.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ferry::cost {

using ir::ForKind;
using ir::Stmt;

namespace {

constexpr double kUnknownExtent = 64;

bool is_copied(ForKind kind) { return kind == ForKind::vectorized || kind == ForKind::unrolled; }

// Whether a statement has a loop that does not become part of straight-line code.
class HasSerialLoop : public ir::Visitor {
 public:
  bool found = false;

 protected:
  using Visitor::visit_node;
  void visit_node(const ir::For& loop) override {
    const auto* extent = loop.extent.as<ir::IntImm>();
    found = found || !is_copied(loop.for_kind) || extent == nullptr;
    if (!found) visit(loop.body);
  }
  void visit_node(const ir::Store&) override {}
};

class Build {
 public:
  explicit Build(FunctionNest& nest) : nest_(nest) {}

  void add(const Stmt& stmt, LoopNest& into, double share, double partial) {
    if (!stmt.defined()) return;
    switch (stmt.kind()) {
      case ir::StmtKind::Store: {
        const auto* store = stmt.as<ir::Store>();
        into.steps.push_back({store, store->value, replicas_, share, partial});
        return;
      }
      case ir::StmtKind::For: return add_loop(*stmt.as<ir::For>(), into, share, partial);
      case ir::StmtKind::Block:
        for (const Stmt& part : stmt.as<ir::Block>()->body) add(part, into, share, partial);
        return;
      case ir::StmtKind::If: {
        const auto* branch = stmt.as<ir::If>();
        const Share holds = share_of(branch->condition, loops_, nest_.variables);
        if (holds.any > 0) add(branch->on_true, into, share * holds.any, std::max(partial, share * holds.partial));
        const double otherwise = 1 - holds.any + holds.partial;
        if (branch->on_false.defined() && otherwise > 0) add(branch->on_false, into, share * otherwise, partial);
        return;
      }
      case ir::StmtKind::Allocate: return add(stmt.as<ir::Allocate>()->body, into, share, partial);
      case ir::StmtKind::LetStmt: {
        const auto* let = stmt.as<ir::LetStmt>();
        nest_.variables.definitions[let->var.get()] = linear_index(let->value, nest_.variables);
        into.steps.push_back({nullptr, let->value, replicas_, share, partial});
        return add(let->body, into, share, partial);
      }
      case ir::StmtKind::Evaluate: {
        const auto* evaluate = stmt.as<ir::Evaluate>();
        into.steps.push_back({nullptr, evaluate->value, replicas_, share, partial});
        return;
      }
      case ir::StmtKind::InstructionStmt: return add(stmt.as<ir::InstructionStmt>()->definition, into, share, partial);
      case ir::StmtKind::Assert: return;
    }
  }

 private:
  void add_loop(const ir::For& loop, LoopNest& into, double share, double partial) {
    const std::optional<double> known = average(loop.extent, loops_);
    const double extent = known ? std::max(0.0, *known) : kUnknownExtent;
    if (extent == 0) return;
    const std::optional<double> min = average(loop.min, loops_);
    const bool is_vector = loop.for_kind == ForKind::vectorized;
    loops_.push_back({loop.var.get(), min.value_or(0), extent, is_vector});
    nest_.variables.extents[loop.var.get()] = extent;
    HasSerialLoop serial;
    if (is_copied(loop.for_kind)) serial.visit(loop.body);
    if (extent == 1 || (is_copied(loop.for_kind) && !serial.found)) {
      replicas_.push_back({loop.var.get(), extent, is_vector});
      add(loop.body, into, share, partial);
      replicas_.pop_back();
    } else {
      auto& inner = *into.inner.emplace_back(std::make_unique<LoopNest>());
      inner.var = loop.var.get();
      inner.extent = extent;
      inner.share = share;
      inner.is_parallel = loop.for_kind == ForKind::parallel;
      const std::vector<Replica> outside = std::exchange(replicas_, {});
      // Copies of a whole loop run one after the other.
      for (const Replica& replica : outside) inner.share *= replica.extent;
      add(loop.body, inner, 1, 0);
      replicas_ = outside;
    }
    loops_.pop_back();
  }

  FunctionNest& nest_;
  std::vector<Iterated> loops_;
  std::vector<Replica> replicas_;
};

}  // namespace

FunctionNest nest_of(const ir::Function& function) {
  FunctionNest nest;
  Build(nest).add(function.body, nest.body, 1, 0);
  return nest;
}

}  // namespace ferry::cost
