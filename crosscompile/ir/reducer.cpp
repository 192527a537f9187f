// The built-in reductions.
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"

#include <limits>

namespace ferry::ir {
namespace {

std::int64_t lowest_int(Type type) {
  return type.is_unsigned_int() ? 0 : std::numeric_limits<std::int64_t>::min() >> (64 - type.bits());
}

std::int64_t highest_int(Type type) {
  if (type.is_unsigned_int()) return static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - type.bits()));
  return std::numeric_limits<std::int64_t>::max() >> (64 - type.bits());
}

Expr scalar_identity(ReduceOp op, Type type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool logic = op == ReduceOp::any || op == ReduceOp::all;
  if (logic != type.is_bool()) throw InternalError("identity_of: the reduction is not defined for " + to_text(type));
  switch (op) {
    case ReduceOp::sum: return type.is_float() ? FloatImm::make(type, 0) : IntImm::make(type, 0);
    case ReduceOp::prod: return type.is_float() ? FloatImm::make(type, 1) : IntImm::make(type, 1);
    case ReduceOp::min:
      return type.is_float() ? FloatImm::make(type, kInfinity) : IntImm::make(type, highest_int(type));
    case ReduceOp::max:
      return type.is_float() ? FloatImm::make(type, -kInfinity) : IntImm::make(type, lowest_int(type));
    case ReduceOp::any: return IntImm::make(type, 0);
    case ReduceOp::all: return IntImm::make(type, 1);
    case ReduceOp::user: break;
  }
  throw InternalError("identity_of: a user's reduction brings its own identity");
}

struct BuiltIn {
  const char* name;
  BinaryOp combine;
};

BuiltIn built_in(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum: return {"sum", BinaryOp::add};
    case ReduceOp::prod: return {"prod", BinaryOp::mul};
    case ReduceOp::min: return {"min", BinaryOp::min};
    case ReduceOp::max: return {"max", BinaryOp::max};
    case ReduceOp::any: return {"any", BinaryOp::logical_or};
    case ReduceOp::all: return {"all", BinaryOp::logical_and};
    case ReduceOp::user: break;
  }
  throw InternalError("make_reducer: a user's reduction brings its own combination");
}

}  // namespace

Expr identity_of(ReduceOp op, Type type) { return Broadcast::make(scalar_identity(op, type.element()), type.lanes); }

ReducerRef make_reducer(ReduceOp op, Type type) {
  const BuiltIn what = built_in(op);
  auto reducer = std::make_shared<Reducer>();
  reducer->op = op;
  reducer->name = what.name;
  reducer->left = {Var::make("left", type)};
  reducer->right = {Var::make("right", type)};
  reducer->combine = {Binary::make(what.combine, reducer->left[0], reducer->right[0])};
  reducer->identity = {identity_of(op, type)};
  return reducer;
}

}  // namespace ferry::ir
