#include "crosscompile/codegen/source/live.h"

#include "crosscompile/ir/visitor.h"

#include <unordered_set>

namespace ferry::codegen::source {
namespace {

class Finder : public ir::Visitor {
 public:
  explicit Finder(const Names* names) : names_(names) {}
  LiveNames found;

 protected:
  using ir::Visitor::visit_node;
  void visit_node(const ir::Var& node) override {
    if (!is_new(&node)) return;
    // The tree outlives this handle, which must not delete its node.
    found.variables.emplace_back(std::shared_ptr<const ir::Var>(std::shared_ptr<void>(), &node));
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
    if (is_new(buffer.get())) found.buffers.push_back(buffer.get());
  }
  bool is_new(const void* identity) {
    return (names_ == nullptr || names_->knows(identity)) && seen_.insert(identity).second;
  }

  const Names* names_;
  std::unordered_set<const void*> seen_;
};

}  // namespace

LiveNames live_names(const ir::Stmt& stmt, const Names* names) {
  Finder finder(names);
  finder.visit(stmt);
  return std::move(finder.found);
}

}  // namespace ferry::codegen::source
