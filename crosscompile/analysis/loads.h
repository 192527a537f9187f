// The loads of an expression or a statement.
#pragma once

#include "crosscompile/ir/visitor.h"

#include <unordered_set>
#include <vector>

namespace ferry::analysis {

// Calls visit(const ir::Load&) for every load in an Expr or a Stmt, including those inside conditions, indices and
// masks, in order of occurrence: a load comes before the loads in its indices.
template <class Tree, class Visit>
void for_each_load(const Tree& tree, Visit visit) {
  class Walk : public ir::Visitor {
   public:
    explicit Walk(Visit& visit_one) : visit_(visit_one) {}

   protected:
    using Visitor::visit_node;
    void visit_node(const ir::Load& node) override {
      visit_(node);
      Visitor::visit_node(node);
    }

   private:
    Visit& visit_;
  };
  Walk(visit).visit(tree);
}

inline std::vector<const ir::Load*> loads_of(const ir::Expr& expr) {
  std::vector<const ir::Load*> loads;
  for_each_load(expr, [&](const ir::Load& load) { loads.push_back(&load); });
  return loads;
}

template <class Tree>
bool reads(const Tree& tree, const ir::Buffer* buffer) {
  bool found = false;
  for_each_load(tree, [&](const ir::Load& load) { found = found || load.buffer.get() == buffer; });
  return found;
}

template <class Tree>
std::unordered_set<const ir::Buffer*> buffers_read(const Tree& tree) {
  std::unordered_set<const ir::Buffer*> buffers;
  for_each_load(tree, [&](const ir::Load& load) { buffers.insert(load.buffer.get()); });
  return buffers;
}

}  // namespace ferry::analysis
