// Walks a tree: override visit_node for the nodes of interest, and call the base to visit the children. The variables
// that loops and lets introduce are not children; an allocated buffer's shape is.
#pragma once

#include "crosscompile/ir/stmt.h"

namespace ferry::ir {

class Visitor {
 public:
  virtual ~Visitor() = default;
  void visit(const Expr& expr);  // does nothing for an undefined one
  void visit(const Stmt& stmt);

 protected:
#define FERRY_VISIT(name) virtual void visit_node(const name& node);
  FERRY_IR_EXPRS(FERRY_VISIT)
  FERRY_IR_STMTS(FERRY_VISIT)
#undef FERRY_VISIT
};

}  // namespace ferry::ir
