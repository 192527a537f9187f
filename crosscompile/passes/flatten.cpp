#include "crosscompile/passes/flatten.h"

#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/operators.h"
#include "crosscompile/passes/lanes.h"

#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

Expr flat_index(const Buffer& buffer, const std::vector<Expr>& indices) {
  const bool already_flat = indices.size() != buffer.shape.size();
  if (already_flat) return indices[0];
  Expr flat = 0;
  Expr dense_stride = 1;
  for (std::size_t d = indices.size(); d-- > 0;) {
    const Expr& stride = buffer.strides.empty() ? dense_stride : buffer.strides[d];
    flat = lane_binary(BinaryOp::add, lane_binary(BinaryOp::mul, indices[d], stride), flat);
    if (buffer.strides.empty() && d > 0) dense_stride = dense_stride * buffer.shape[d];
  }
  return flat;
}

class Flattener : public Mutator {
 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const Load& node, const Expr&) override {
    return Load::make(node.buffer, {flat_index(*node.buffer, mutate_all(node.indices))}, mutate(node.mask));
  }

  Stmt mutate_node(const Store& node, const Stmt&) override {
    return Store::make(node.buffer, {flat_index(*node.buffer, mutate_all(node.indices))}, mutate(node.value),
                       mutate(node.mask));
  }

 private:
  std::vector<Expr> mutate_all(const std::vector<Expr>& exprs) {
    std::vector<Expr> result;
    for (const Expr& expr : exprs) result.push_back(mutate(expr));
    return result;
  }
};

}  // namespace

Function flatten(Function function) {
  function.body = Flattener().mutate(function.body);
  function.flat = true;
  return function;
}

}  // namespace ferry::passes
