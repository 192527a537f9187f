#include "crosscompile/ir/extern_call.h"

#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/prefetch.h"
#include "crosscompile/ir/visitor.h"

#include <algorithm>

namespace ferry::ir {

namespace {

constexpr const char* kAddress = "address_of";

class Finder : public Visitor {
 public:
  std::vector<std::string> names;

 protected:
  using Visitor::visit_node;
  void visit_node(const Evaluate& node) override {
    const auto* call = node.value.as<Call>();
    if (call == nullptr || prefetched(node) != nullptr || orders_copies(node)) return;
    if (std::find(names.begin(), names.end(), call->name) == names.end()) names.push_back(call->name);
  }
};

}  // namespace

Expr address_of(const BufferRef& buffer, std::vector<Expr> indices) {
  return Call::make(Type(DType::u64), kAddress, {Load::make(buffer, std::move(indices))});
}

const Load* addressed(const Call& call) {
  return call.name == kAddress && call.arguments.size() == 1 ? call.arguments[0].as<Load>() : nullptr;
}

Stmt make_extern_call(const std::string& function, std::vector<Expr> arguments) {
  return Evaluate::make(Call::make(Type(DType::i32), function, std::move(arguments)));
}

std::vector<std::string> extern_functions(const Stmt& stmt) {
  Finder finder;
  finder.visit(stmt);
  return std::move(finder.names);
}

}  // namespace ferry::ir
