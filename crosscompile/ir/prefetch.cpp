#include "crosscompile/ir/prefetch.h"

namespace ferry::ir {

Stmt make_prefetch(const Expr& load) {
  return Evaluate::make(Call::make(Type(DType::i32, load.type().lanes), CallOp::prefetch, {load}));
}

const Load* prefetched(const Evaluate& statement) {
  const auto* call = statement.value.as<Call>();
  return call != nullptr && call->callee.op == CallOp::prefetch ? call->arguments[0].as<Load>() : nullptr;
}

}  // namespace ferry::ir
