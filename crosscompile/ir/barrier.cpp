#include "crosscompile/ir/barrier.h"

#include "crosscompile/ir/shuffle.h"
#include "crosscompile/ir/visitor.h"

namespace ferry::ir {

namespace {

constexpr const char* kBarrier = "barrier";

class Finder : public Visitor {
 public:
  bool found = false;

 protected:
  void visit_node(const Evaluate& node) override { found = found || is_barrier(node); }
  void visit_node(const Store& node) override { found = found || shuffle_of(node) != nullptr; }
  using Visitor::visit_node;
};

}  // namespace

Stmt make_barrier() { return Evaluate::make(Call::make(Type(DType::i32), kBarrier, {})); }

bool is_barrier(const Evaluate& statement) {
  const auto* call = statement.value.as<Call>();
  return call != nullptr && call->name == kBarrier && call->arguments.empty();
}

bool is_common(const Stmt& stmt) {
  Finder finder;
  finder.visit(stmt);
  return finder.found;
}

}  // namespace ferry::ir
