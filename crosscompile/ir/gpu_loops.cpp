#include "crosscompile/ir/gpu_loops.h"

#include "crosscompile/ir/visitor.h"

namespace ferry::ir {

namespace {

class GpuLoopFinder : public Visitor {
 public:
  bool found = false;

 protected:
  void visit_node(const For& node) override {
    found = found || is_block(node.for_kind) || is_thread(node.for_kind);
    if (!found) Visitor::visit_node(node);
  }
  using Visitor::visit_node;
};

}  // namespace

bool has_gpu_loops(const Stmt& stmt) {
  GpuLoopFinder finder;
  finder.visit(stmt);
  return finder.found;
}

}  // namespace ferry::ir
