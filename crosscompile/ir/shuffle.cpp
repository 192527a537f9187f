#include "crosscompile/ir/shuffle.h"

namespace ferry::ir {

namespace {

constexpr const char* kShuffle = "shuffle_xor";

}  // namespace

Stmt make_shuffle_xor(BufferRef into, std::vector<Expr> indices, Expr value, Expr mask) {
  const Type type = value.type();
  return Store::make(std::move(into), std::move(indices),
                     Call::make(type, kShuffle, {std::move(value), std::move(mask)}));
}

bool is_shuffle(const Call& call) { return call.name == kShuffle; }

const Call* shuffle_of(const Store& store) {
  const auto* call = store.value.as<Call>();
  return call != nullptr && is_shuffle(*call) ? call : nullptr;
}

}  // namespace ferry::ir
