#include "host/lower/guarded_loads.h"

#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::lower {

using namespace ir;

namespace {

class LoadGuard : public Mutator {
 public:
  LoadGuard(const Expr& guard, const std::function<bool(const Load&)>& exist)
      : guard_(guard), exist_(exist), variables_(free_vars(guard)) {}

 protected:
  Expr mutate_node(const Load& node, const Expr& self) override {
    const bool is_concerned = std::any_of(node.indices.begin(), node.indices.end(), [&](const Expr& index) {
      return std::any_of(variables_.begin(), variables_.end(), [&](const Expr& var) { return uses_var(index, var); });
    });
    const Expr load = Mutator::mutate_node(node, self);
    return is_concerned && !exist_(node) ? if_then_else(guard_, load, constant(load.type(), std::int64_t{0})) : load;
  }
  using Mutator::mutate_node;

 private:
  Expr guard_;
  const std::function<bool(const Load&)>& exist_;
  std::vector<Expr> variables_;
};

}  // namespace

Stmt guarded(const std::vector<Expr>& guards, Stmt body) {
  Expr all;
  for (auto guard = guards.rbegin(); guard != guards.rend(); ++guard) {
    all = all.defined() ? *guard && all : *guard;
    if (!contains(*guard, {ExprKind::Load})) continue;
    body = If::make(std::move(all), std::move(body));
    all = Expr();
  }
  return all.defined() ? If::make(std::move(all), std::move(body)) : body;
}

Expr guard_loads(const Expr& expr, const Expr& guard, const std::function<bool(const Load&)>& exist) {
  return LoadGuard(guard, exist).mutate(expr);
}

}  // namespace ferry::lower
