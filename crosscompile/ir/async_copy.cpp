#include "crosscompile/ir/async_copy.h"

#include "crosscompile/ir/operators.h"

namespace ferry::ir {

namespace {

constexpr const char* kCommit = "commit_copies";
constexpr const char* kWait = "wait_copies";

}  // namespace

Stmt make_commit_copies() { return Evaluate::make(Call::make(Type(DType::i32), kCommit, {})); }

Stmt make_wait_copies(std::int64_t groups_left) {
  return Evaluate::make(Call::make(Type(DType::i32), kWait, {Expr(groups_left)}));
}

bool is_commit_copies(const Evaluate& statement) {
  const auto* call = statement.value.as<Call>();
  return call != nullptr && call->name == kCommit && call->arguments.empty();
}

std::optional<std::int64_t> groups_left(const Evaluate& statement) {
  const auto* call = statement.value.as<Call>();
  if (call == nullptr || call->name != kWait || call->arguments.size() != 1) return std::nullopt;
  const std::int64_t* groups = as_int(call->arguments[0]);
  return groups == nullptr ? std::nullopt : std::optional(*groups);
}

bool orders_copies(const Evaluate& statement) {
  return is_commit_copies(statement) || groups_left(statement).has_value();
}

}  // namespace ferry::ir
