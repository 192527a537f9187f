#include "crosscompile/ir/async_copy.h"

#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

namespace ferry::ir {

Stmt make_commit_copies() { return Evaluate::make(Call::make(Type(DType::i32), CallOp::commit_copies, {})); }

Stmt make_wait_copies(std::int64_t groups_left) {
  return Evaluate::make(Call::make(Type(DType::i32), CallOp::wait_copies, {Expr(groups_left)}));
}

bool is_commit_copies(const Evaluate& statement) {
  const auto* call = statement.value.as<Call>();
  return call != nullptr && call->callee.op == CallOp::commit_copies;
}

std::optional<std::int64_t> groups_left(const Evaluate& statement) {
  const auto* call = statement.value.as<Call>();
  if (call == nullptr || call->callee.op != CallOp::wait_copies) return std::nullopt;
  return *as_int(call->arguments[0]);
}

bool orders_copies(const Evaluate& statement) {
  return is_commit_copies(statement) || groups_left(statement).has_value();
}

}  // namespace ferry::ir
