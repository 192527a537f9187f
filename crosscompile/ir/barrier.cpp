#include "crosscompile/ir/barrier.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/visitor.h"

namespace ferry::ir {

namespace {

// Returns whether all threads of a block must reach the operation.
bool is_collective(CallOp op) {
  switch (op) {
    case CallOp::shuffle_xor:
    case CallOp::barrier: return true;
    case CallOp::math:
    case CallOp::external:
    case CallOp::intrinsic:
    case CallOp::bitcast:
    case CallOp::dot:
    case CallOp::scale:
    case CallOp::prefetch:
    case CallOp::commit_copies:
    case CallOp::wait_copies:
    case CallOp::address_of: return false;
  }
  throw InternalError("is_collective: unknown operation");
}

// Operations on several threads are whole statements, or the value of a store.
class Finder : public Visitor {
 public:
  bool found = false;

 protected:
  void visit_node(const Evaluate& node) override { note(node.value); }
  void visit_node(const Store& node) override { note(node.value); }
  using Visitor::visit_node;

 private:
  void note(const Expr& value) {
    const auto* call = value.as<Call>();
    found = found || (call != nullptr && is_collective(call->callee.op));
  }
};

}  // namespace

Stmt make_barrier() { return Evaluate::make(Call::make(Type(DType::i32), CallOp::barrier, {})); }

bool is_barrier(const Evaluate& statement) {
  const auto* call = statement.value.as<Call>();
  return call != nullptr && call->callee.op == CallOp::barrier;
}

bool is_collective(const Stmt& stmt) {
  Finder finder;
  finder.visit(stmt);
  return finder.found;
}

}  // namespace ferry::ir
