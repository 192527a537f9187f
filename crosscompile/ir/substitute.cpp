#include "crosscompile/ir/substitute.h"

#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/visitor.h"

#include <bit>
#include <unordered_set>

namespace ferry::ir {
namespace {

class Substituter : public Mutator {
 public:
  explicit Substituter(const Substitution& values) : values_(values) {}

 protected:
  Expr mutate_node(const Var& node, const Expr& self) override {
    const auto found = values_.find(&node);
    return found == values_.end() ? self : found->second;
  }

  // The size of an allocated buffer may depend on a variable; its uses then refer to a buffer of the new size.
  Stmt mutate_node(const Allocate& node, const Stmt& self) override {
    auto resized = std::make_shared<Buffer>(*node.buffer);
    bool changed = false;
    for (auto* sizes : {&resized->shape, &resized->strides}) {
      for (Expr& size : *sizes) {
        const Expr after = mutate(size);
        changed |= !after.same_as(size);
        size = after;
      }
    }
    if (changed) resized_[node.buffer.get()] = std::move(resized);
    return Mutator::mutate_node(node, self);
  }

  BufferRef mutate_buffer(const BufferRef& buffer) override {
    const auto found = resized_.find(buffer.get());
    return found == resized_.end() ? buffer : found->second;
  }
  using Mutator::mutate_node;

 private:
  const Substitution& values_;
  BufferSubstitution resized_;
};

class BufferSubstituter : public Mutator {
 public:
  explicit BufferSubstituter(const BufferSubstitution& buffers) : buffers_(buffers) {}

 protected:
  BufferRef mutate_buffer(const BufferRef& buffer) override {
    const auto found = buffers_.find(buffer.get());
    return found == buffers_.end() ? buffer : found->second;
  }

 private:
  const BufferSubstitution& buffers_;
};

class UseFinder : public Visitor {
 public:
  explicit UseFinder(const ExprNode* var) : var_(var) {}
  bool found = false;

 protected:
  using Visitor::visit_node;
  void visit_node(const Var& node) override { found |= &node == var_; }
  void visit_node(const Binary& node) override {
    if (!found) visit(node.left);
    if (!found) visit(node.right);
  }

 private:
  const ExprNode* var_;
};

// Collects free variables. A Mutator, because it receives as `self` the handles that a Visitor does not see.
class FreeVars : public Mutator {
 public:
  std::vector<Expr> take() {
    std::vector<Expr> free;
    for (const Expr& var : uses_) {
      if (!bound_.contains(var.get())) free.push_back(var);
    }
    return free;
  }

 protected:
  Expr mutate_node(const Var& node, const Expr& self) override {
    if (seen_.insert(&node).second) uses_.push_back(self);
    return self;
  }
  Expr mutate_node(const Let& node, const Expr& self) override {
    bound_.insert(node.var.get());
    return Mutator::mutate_node(node, self);
  }
  Expr mutate_node(const Reduce& node, const Expr& self) override {
    for (const Axis& axis : node.axes) bound_.insert(axis.var.get());
    return Mutator::mutate_node(node, self);
  }
  Stmt mutate_node(const For& node, const Stmt& self) override {
    bound_.insert(node.var.get());
    return Mutator::mutate_node(node, self);
  }
  Stmt mutate_node(const LetStmt& node, const Stmt& self) override {
    bound_.insert(node.var.get());
    return Mutator::mutate_node(node, self);
  }
  Stmt mutate_node(const Allocate& node, const Stmt& self) override {
    for (const Expr& extent : node.buffer->shape) mutate(extent);
    for (const Expr& stride : node.buffer->strides) mutate(stride);
    return Mutator::mutate_node(node, self);
  }

 private:
  std::vector<Expr> uses_;
  std::unordered_set<const ExprNode*> seen_;
  // A variable is bound in one place only, so one that is bound anywhere inside is not free.
  std::unordered_set<const ExprNode*> bound_;
};

bool equal_all(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!equal(a[i], b[i])) return false;
  }
  return true;
}

bool same(const IntImm& a, const IntImm& b) { return a.value == b.value; }
bool same(const FloatImm& a, const FloatImm& b) {
  return std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
}
bool same(const Var& a, const Var& b) { return &a == &b; }
bool same(const Cast& a, const Cast& b) { return equal(a.value, b.value); }
bool same(const Unary& a, const Unary& b) { return a.op == b.op && equal(a.value, b.value); }
bool same(const Binary& a, const Binary& b) { return a.op == b.op && equal(a.left, b.left) && equal(a.right, b.right); }
bool same(const Select& a, const Select& b) {
  return equal(a.condition, b.condition) && equal(a.on_true, b.on_true) && equal(a.on_false, b.on_false);
}
bool same(const IfThenElse& a, const IfThenElse& b) {
  return equal(a.condition, b.condition) && equal(a.on_true, b.on_true) && equal(a.on_false, b.on_false);
}
bool same(const Load& a, const Load& b) {
  return a.buffer == b.buffer && equal_all(a.indices, b.indices) && equal(a.mask, b.mask);
}
bool same(const Call& a, const Call& b) { return a.callee == b.callee && equal_all(a.arguments, b.arguments); }
bool same(const Reduce& a, const Reduce& b) {
  if (a.reducer != b.reducer || a.component != b.component || a.axes.size() != b.axes.size()) return false;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    if (!a.axes[i].var.same_as(b.axes[i].var) || !equal(a.axes[i].min, b.axes[i].min) ||
        !equal(a.axes[i].extent, b.axes[i].extent)) {
      return false;
    }
  }
  return equal_all(a.sources, b.sources) && equal(a.condition, b.condition) && equal_all(a.init, b.init);
}
bool same(const Let& a, const Let& b) {
  return a.var.same_as(b.var) && equal(a.value, b.value) && equal(a.body, b.body);
}
bool same(const Ramp& a, const Ramp& b) { return equal(a.base, b.base) && equal(a.stride, b.stride); }
bool same(const Broadcast& a, const Broadcast& b) { return equal(a.value, b.value); }
bool same(const VectorReduce& a, const VectorReduce& b) { return a.op == b.op && equal(a.value, b.value); }

}  // namespace

Expr substitute(const Expr& expr, const Substitution& values) { return Substituter(values).mutate(expr); }
Stmt substitute(const Stmt& stmt, const Substitution& values) { return Substituter(values).mutate(stmt); }

Expr substitute_buffers(const Expr& expr, const BufferSubstitution& buffers) {
  return BufferSubstituter(buffers).mutate(expr);
}
Stmt substitute_buffers(const Stmt& stmt, const BufferSubstitution& buffers) {
  return BufferSubstituter(buffers).mutate(stmt);
}

bool uses_var(const Expr& expr, const Expr& var) {
  UseFinder finder(var.get());
  finder.visit(expr);
  return finder.found;
}

bool uses_var(const Stmt& stmt, const Expr& var) {
  UseFinder finder(var.get());
  finder.visit(stmt);
  return finder.found;
}

std::vector<Expr> free_vars(const Expr& expr) {
  FreeVars finder;
  finder.mutate(expr);
  return finder.take();
}

std::vector<Expr> free_vars(const Stmt& stmt) {
  FreeVars finder;
  finder.mutate(stmt);
  return finder.take();
}

bool equal(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return true;
  if (!a.defined() || !b.defined() || a.kind() != b.kind() || a.type() != b.type()) return false;
  switch (a.kind()) {
#define FERRY_CASE(name) \
  case ExprKind::name: return same(static_cast<const name&>(*a.get()), static_cast<const name&>(*b.get()));
    FERRY_IR_EXPRS(FERRY_CASE)
#undef FERRY_CASE
  }
  return false;
}

}  // namespace ferry::ir
