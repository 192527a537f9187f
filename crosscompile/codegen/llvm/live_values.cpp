#include "crosscompile/codegen/llvm/live_values.h"

#include "crosscompile/ir/visitor.h"

#include <unordered_set>

namespace ferry::codegen {
namespace {

// Variables and buffers are defined once in a function, so whatever has a value outside comes from there.
class Finder : public ir::Visitor {
 public:
  explicit Finder(const FunctionState& state) : state_(state) {}
  LiveValues found;

 protected:
  using ir::Visitor::visit_node;
  void visit_node(const ir::Var& node) override {
    if (state_.values.contains(&node) && seen_.insert(&node).second) found.variables.push_back(&node);
  }
  void visit_node(const ir::Load& node) override {
    use(node.buffer);
    ir::Visitor::visit_node(node);
  }
  void visit_node(const ir::Store& node) override {
    use(node.buffer);
    ir::Visitor::visit_node(node);
  }

 private:
  void use(const ir::BufferRef& buffer) {
    if (state_.buffers.contains(buffer.get()) && seen_.insert(buffer.get()).second) {
      found.buffers.push_back(buffer.get());
    }
  }
  const FunctionState& state_;
  std::unordered_set<const void*> seen_;
};

}  // namespace

LiveValues live_values(const FunctionState& state, const ir::Stmt& stmt) {
  Finder finder(state);
  finder.visit(stmt);
  return finder.found;
}

}  // namespace ferry::codegen
