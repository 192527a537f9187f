#include "crosscompile/passes/loops/unroll_registers.h"

#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::passes {
namespace {

using namespace ir;

constexpr std::int64_t kMaxUnrolled = 64;

class RegisterIndexFinder : public Visitor {
 public:
  explicit RegisterIndexFinder(const Expr& var) : var_(var) {}
  bool found = false;

 protected:
  using Visitor::visit_node;
  void visit_node(const Load& node) override {
    look_at(*node.buffer, node.indices);
    Visitor::visit_node(node);
  }
  void visit_node(const Store& node) override {
    look_at(*node.buffer, node.indices);
    Visitor::visit_node(node);
  }

 private:
  void look_at(const Buffer& buffer, const std::vector<Expr>& indices) {
    found = found || (buffer.scope == Scope::local && std::any_of(indices.begin(), indices.end(), [&](const Expr& one) {
                        return uses_var(one, var_);
                      }));
  }
  const Expr& var_;
};

class Marker : public Mutator {
 protected:
  using Mutator::mutate_node;
  // The loops of an instruction's definition need not be unrolled.
  Stmt mutate_node(const InstructionStmt& node, const Stmt& self) override {
    return node.arguments.empty() ? Mutator::mutate_node(node, self) : self;
  }
  Stmt mutate_node(const For& node, const Stmt& self) override {
    const Stmt result = Mutator::mutate_node(node, self);
    const auto* loop = result.as<For>();
    if (loop == nullptr || loop->for_kind != ForKind::serial) return result;
    const std::int64_t* extent = as_int(loop->extent);
    if (extent == nullptr || *extent > kMaxUnrolled) return result;
    RegisterIndexFinder finder(loop->var);
    finder.visit(loop->body);
    return finder.found ? For::make(loop->var, loop->min, loop->extent, ForKind::unrolled, loop->body) : result;
  }
};

}  // namespace

Function unroll_registers(Function function) {
  if (function.body.defined()) function.body = Marker().mutate(function.body);
  return function;
}

}  // namespace ferry::passes
