#include "crosscompile/analysis/count_nodes.h"

#include "crosscompile/ir/visitor.h"

namespace ferry::analysis {

using namespace ir;

namespace {

class NodeCounter : public Visitor {
 public:
  std::size_t count = 0;

 protected:
#define FERRY_COUNT(name)                      \
  void visit_node(const name& node) override { \
    ++count;                                   \
    Visitor::visit_node(node);                 \
  }
  FERRY_IR_EXPRS(FERRY_COUNT)
  FERRY_IR_STMTS(FERRY_COUNT)
#undef FERRY_COUNT
};

template <class Part>
std::size_t count(const Part& part) {
  NodeCounter counter;
  counter.visit(part);
  return counter.count;
}

}  // namespace

std::size_t count_nodes(const Expr& expr) { return count(expr); }
std::size_t count_nodes(const Stmt& stmt) { return count(stmt); }

}  // namespace ferry::analysis
