#include "crosscompile/passes/simplify/simplify.h"

#include "crosscompile/analysis/count_nodes.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/passes/simplify/rules.h"

#include <unordered_map>
#include <unordered_set>

namespace ferry::passes {
namespace {

using namespace ir;
using analysis::Facts;
using analysis::Interval;
using analysis::touches_memory;
using simplifier::ExprSimplifier;

// A larger value that is used often is computed only once.
constexpr std::size_t kCheapNodes = 5;

class Simplifier : public ExprSimplifier {
 public:
  // Adds the conditions, each simplified under those before it.
  void learn(const std::vector<Expr>& conditions) {
    for (const Expr& condition : conditions) facts.assume(mutate(condition));
  }

 protected:
  using ExprSimplifier::mutate_node;

  Stmt mutate_node(const Store& node, const Stmt& self) override {
    Stmt stored = Mutator::mutate_node(node, self);
    const auto* store = stored.as<Store>();
    if (!store->mask.defined()) return stored;
    if (is_constant(store->mask, 0)) return {};
    return is_constant(store->mask, 1) ? Store::make(store->buffer, store->indices, store->value) : stored;
  }

  Stmt mutate_node(const For& node, const Stmt& self) override {
    const Expr min = mutate(node.min);
    const Expr extent = mutate(node.extent);
    const Interval count = facts.value_range(facts.atoms.polynomial(extent));
    if (count.hi <= 0) return {};
    const bool is_on_gpu = is_block(node.for_kind) || is_thread(node.for_kind);  // tells how to launch a kernel
    if (count.is_point() && count.lo == 1 && !is_on_gpu) return once(node, min);
    const Facts::Scope scope(facts);
    facts.enter_loop(node.var, min, extent);
    Stmt body = mutate(node.body);
    if (!body.defined()) return {};
    if (min.same_as(node.min) && extent.same_as(node.extent) && body.same_as(node.body)) return self;
    return For::make(node.var, min, extent, node.for_kind, body);
  }

  Stmt mutate_node(const Block& node, const Stmt& self) override {
    // An assertion holds for the statements after it.
    const Facts::Scope scope(facts);
    const Stmt block = Mutator::mutate_node(node, self);
    const auto* rest = block.as<Block>();
    return rest != nullptr && rest->body.empty() ? Stmt() : block;
  }

  Stmt mutate_node(const If& node, const Stmt& self) override {
    const Expr condition = mutate(node.condition);
    if (const std::int64_t* known = as_int(condition)) return mutate(*known != 0 ? node.on_true : node.on_false);
    const Stmt on_true = mutate_given(node.on_true, condition, true);
    const Stmt on_false = mutate_given(node.on_false, condition, false);
    if (!on_true.defined()) return on_false.defined() ? If::make(mutate(!condition), on_false) : Stmt();
    const auto* inner = on_true.as<If>();
    // && evaluates both sides, so the inner condition must be safe without the outer one's guard.
    if (!on_false.defined() && inner != nullptr && !inner->on_false.defined() && !touches_memory(inner->condition)) {
      return If::make(condition && inner->condition, inner->on_true);
    }
    if (condition.same_as(node.condition) && on_true.same_as(node.on_true) && on_false.same_as(node.on_false))
      return self;
    return If::make(condition, on_true, on_false);
  }

  // Perfectly nested allocations are processed together, so that the buffers that the innermost statement uses are
  // collected only once: a function may have hundreds of allocations.
  Stmt mutate_node(const Allocate& node, const Stmt& self) override {
    std::vector<Allocation> allocations;
    const Stmt* innermost = &self;
    for (const Allocate* next = &node; next != nullptr; next = innermost->as<Allocate>()) {
      allocations.push_back(simplified(*next, *innermost));
      innermost = &next->body;
    }
    Stmt body = mutate(*innermost);
    std::unordered_set<const Buffer*> used;
    if (body.defined())
      for (const BufferRef& buffer : used_buffers(body)) used.insert(buffer.get());
    bool body_stays = body.same_as(*innermost);
    for (auto allocation = allocations.rbegin(); allocation != allocations.rend(); ++allocation) {
      buffers_.erase(allocation->node->buffer.get());
      if (!used.contains(allocation->buffer.get())) {
        body_stays = false;
      } else if (body_stays && !allocation->changed) {
        body = allocation->self;
      } else {
        body = Allocate::make(allocation->buffer, std::move(body), allocation->offset, allocation->node->workspace);
        body_stays = false;
      }
    }
    return body;
  }

  Stmt mutate_node(const LetStmt& node, const Stmt& self) override {
    const Expr value = mutate(node.value);
    const bool atomic =
        value.kind() == ExprKind::IntImm || value.kind() == ExprKind::FloatImm || value.kind() == ExprKind::Var;
    if (atomic) return mutate(substitute(node.body, {{node.var.get(), value}}));
    const Facts::Scope scope(facts);
    facts.define(node.var, value);
    Stmt body = mutate(node.body);
    if (!body.defined()) return {};
    if (!uses_var(body, node.var)) return body;
    return value.same_as(node.value) && body.same_as(node.body) ? self : LetStmt::make(node.var, value, body);
  }

  Stmt mutate_node(const Assert& node, const Stmt& self) override {
    const Expr condition = mutate(node.condition);
    if (is_constant(condition, 1)) return {};
    facts.assume(condition);
    return condition.same_as(node.condition) ? self : Assert::make(condition, node.message);
  }

  Stmt mutate_node(const Evaluate& node, const Stmt& self) override {
    return touches_memory(node.value) ? Mutator::mutate_node(node, self) : Stmt();
  }

  BufferRef mutate_buffer(const BufferRef& buffer) override {
    const auto found = buffers_.find(buffer.get());
    return found == buffers_.end() ? buffer : found->second;
  }

 private:
  struct Allocation {
    const Allocate* node;
    Stmt self;
    BufferRef buffer;
    Expr offset;
    bool changed;
  };

  // Simplifies an allocation without its body, whose uses of the buffer change from now on.
  Allocation simplified(const Allocate& node, const Stmt& self) {
    auto smaller = std::make_shared<Buffer>(*node.buffer);
    bool changed = false;
    for (auto* sizes : {&smaller->shape, &smaller->strides}) {
      for (Expr& size : *sizes) {
        const Expr after = mutate(size);
        changed |= !after.same_as(size);
        size = after;
      }
    }
    if (changed) buffers_[node.buffer.get()] = smaller;
    const Expr offset = mutate(node.offset);
    return {&node, self, mutate_buffer(node.buffer), offset, changed || !offset.same_as(node.offset)};
  }

  // Returns the loop's only iteration.
  Stmt once(const For& node, const Expr& min) {
    if (analysis::count_nodes(min) <= kCheapNodes && !touches_memory(min)) {
      return mutate(substitute(node.body, {{node.var.get(), min}}));
    }
    return mutate(LetStmt::make(node.var, min, node.body));
  }

  std::unordered_map<const Buffer*, BufferRef> buffers_;
};

}  // namespace

void simplifier::learn_parameters(const Function& function, ExprSimplifier& simplifier) {
  Facts& facts = simplifier.facts;
  Interval size;
  size.lo = 0;
  for (const FunctionParameter& parameter : function.parameters) {
    if (parameter.kind == ParameterKind::scalar) {
      const bool is_data = parameter.scalar.type() == kIndex && !parameter.is_size;
      if (is_data) facts.limit(parameter.scalar, Interval::of(DType::i64));
      continue;
    }
    for (const Expr& extent : parameter.buffer->shape) {
      if (extent.kind() == ExprKind::Var) {
        facts.limit(extent, size);
      } else {
        facts.assume(simplifier.mutate(extent >= 0));
      }
    }
  }
  for (const Requirement& requirement : function.requirements) facts.assume(simplifier.mutate(requirement.condition));
}

Function simplify(Function function) {
  Simplifier simplifier;
  simplifier::learn_parameters(function, simplifier);
  for (Expr* expr : {&function.flops, &function.call_workspace, &function.thread_workspace})
    *expr = simplifier.mutate(*expr);
  function.body = simplifier.mutate(function.body);
  if (!function.body.defined()) function.body = Block::make({});
  return function;
}

Expr simplify(const Expr& expr, const std::vector<Expr>& facts) {
  if (expr.as<IntImm>() != nullptr || (expr.as<Var>() != nullptr && facts.empty())) return expr;
  Simplifier simplifier;
  simplifier.learn(facts);
  return simplifier.mutate(expr);
}

Stmt simplify(const Stmt& stmt, const std::vector<Expr>& facts) {
  Simplifier simplifier;
  simplifier.learn(facts);
  return simplifier.mutate(stmt);
}

bool can_prove(const Expr& condition, const std::vector<Expr>& facts) {
  return is_constant(simplify(condition, facts), 1);
}

}  // namespace ferry::passes
