// Rebuilds a tree: override mutate_node for the nodes to change, and call the base for the rest. A node whose children
// did not change is returned as it was. Buffers are not rewritten unless mutate_buffer is overridden.
#pragma once

#include "crosscompile/ir/stmt.h"

namespace ferry::ir {

class Mutator {
 public:
  virtual ~Mutator() = default;
  Expr mutate(const Expr& expr);  // an undefined one stays undefined
  Stmt mutate(const Stmt& stmt);  // an undefined result removes the statement from its block

 protected:
  // `self` is the handle of `node`, to be returned when nothing changes.
#define FERRY_MUTATE(name) virtual Expr mutate_node(const name& node, const Expr& self);
  FERRY_IR_EXPRS(FERRY_MUTATE)
#undef FERRY_MUTATE
#define FERRY_MUTATE(name) virtual Stmt mutate_node(const name& node, const Stmt& self);
  FERRY_IR_STMTS(FERRY_MUTATE)
#undef FERRY_MUTATE
  virtual BufferRef mutate_buffer(const BufferRef& buffer) { return buffer; }
};

}  // namespace ferry::ir
