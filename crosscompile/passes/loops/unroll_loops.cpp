#include "crosscompile/passes/loops/unroll_loops.h"

#include "crosscompile/ir/mutator.h"
#include "crosscompile/passes/loops/fresh_copy.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

class Unroller : public Mutator {
 protected:
  using Mutator::mutate_node;

  // Keeps the loops of an instruction's definition.
  Stmt mutate_node(const InstructionStmt& node, const Stmt& self) override {
    return node.arguments.empty() ? Mutator::mutate_node(node, self) : self;
  }
  Stmt mutate_node(const For& node, const Stmt& self) override {
    if (node.for_kind != ForKind::unrolled) return Mutator::mutate_node(node, self);
    Stmt body = mutate(node.body);
    if (!body) return {};
    const Expr extent = simplify(node.extent);
    const std::int64_t* count = as_int(extent);
    if (count == nullptr || *count > kMaxUnrolled)
      return For::make(node.var, node.min, extent, ForKind::serial, std::move(body));
    std::vector<Stmt> copies;
    for (std::int64_t i = 0; i < *count; ++i)
      copies.push_back(fresh_copy(body, {{node.var.get(), node.min + Expr(i)}}));
    return copies.empty() ? Stmt{} : Block::make(std::move(copies));
  }
};

}  // namespace

Function unroll_loops(Function function) {
  function.body = Unroller().mutate(function.body);
  return function;
}

}  // namespace ferry::passes
