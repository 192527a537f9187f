#include "crosscompile/ir/prefetch.h"

namespace ferry::ir {

namespace {

constexpr const char* kPrefetch = "prefetch";

}  // namespace

Stmt make_prefetch(const Expr& load) {
  return Evaluate::make(Call::make(Type(DType::i32, load.type().lanes), kPrefetch, {load}));
}

const Load* prefetched(const Evaluate& statement) {
  const auto* call = statement.value.as<Call>();
  if (call == nullptr || call->name != kPrefetch || call->arguments.size() != 1) return nullptr;
  return call->arguments[0].as<Load>();
}

}  // namespace ferry::ir
