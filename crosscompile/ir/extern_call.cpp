#include "crosscompile/ir/extern_call.h"

#include "crosscompile/ir/visitor.h"

#include <algorithm>

namespace ferry::ir {

namespace {

class Finder : public Visitor {
 public:
  std::vector<std::string> names;

 protected:
  using Visitor::visit_node;
  void visit_node(const Evaluate& node) override {
    const auto* call = node.value.as<Call>();
    if (call == nullptr || call->callee.op != CallOp::external) return;
    const std::string& name = call->callee.name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
};

}  // namespace

Expr address_of(const BufferRef& buffer, std::vector<Expr> indices) {
  return Call::make(Type(DType::u64), CallOp::address_of, {Load::make(buffer, std::move(indices))});
}

const Load* addressed(const Call& call) {
  return call.callee.op == CallOp::address_of ? call.arguments[0].as<Load>() : nullptr;
}

const Load* addressed(const Expr& expr) {
  const auto* call = expr.as<Call>();
  return call == nullptr ? nullptr : addressed(*call);
}

Stmt make_extern_call(const std::string& function, std::vector<Expr> arguments) {
  return Evaluate::make(Call::make(Type(DType::i32), Callee::external(function), std::move(arguments)));
}

std::vector<std::string> extern_functions(const Stmt& stmt) {
  Finder finder;
  finder.visit(stmt);
  return std::move(finder.names);
}

}  // namespace ferry::ir
