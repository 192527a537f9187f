#include "crosscompile/ir/shuffle.h"

namespace ferry::ir {

Stmt make_shuffle_xor(BufferRef into, std::vector<Expr> indices, Expr value, Expr mask) {
  const Type type = value.type();
  return Store::make(std::move(into), std::move(indices),
                     Call::make(type, CallOp::shuffle_xor, {std::move(value), std::move(mask)}));
}

const Call* shuffle_of(const Store& store) {
  const auto* call = store.value.as<Call>();
  return call != nullptr && call->callee.op == CallOp::shuffle_xor ? call : nullptr;
}

}  // namespace ferry::ir
