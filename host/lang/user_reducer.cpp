#include "ferry/lang/user_reducer.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "host/lang/names.h"
#include "host/lang/stages.h"

#include <algorithm>

namespace ferry::lang {
namespace {

std::string one_of(std::size_t number, std::size_t count) {
  return count == 1 ? "" : " as component " + std::to_string(number + 1);
}

class Builder {
 public:
  explicit Builder(const std::string& name) : name_(name) {
    check_name(name, "a reducer");
    reducer_->name = name;
  }

  ir::ReducerRef build(const std::vector<ir::Type>& types, const CombineFunction& combine,
                       const IdentityFunction& identity) {
    for (const ir::Type& type : types) {
      reducer_->left.push_back(ir::Var::make("left", type));
      reducer_->right.push_back(ir::Var::make("right", type));
    }
    reducer_->combine = checked(combine(reducer_->left, reducer_->right), types, "combination");
    for (const Expr& part : reducer_->combine) check_operands_only(part);
    reducer_->identity = checked(identity(types), types, "identity");
    for (const Expr& part : reducer_->identity) {
      if (part.as<ir::IntImm>() == nullptr && part.as<ir::FloatImm>() == nullptr)
        throw error("expected constants as its identity");
    }
    return reducer_;
  }

 private:
  CompileError error(const std::string& text) const { return CompileError("reducer '" + name_ + "': " + text); }

  std::vector<Expr> checked(std::vector<Expr> parts, const std::vector<ir::Type>& types, const char* what) const {
    if (parts.size() != types.size()) {
      throw error("expected " + counted(types.size(), "value", "values") + " as its " + what + ", got " +
                  std::to_string(parts.size()));
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool is_constant = parts[i].defined() && (parts[i].as<ir::IntImm>() || parts[i].as<ir::FloatImm>());
      if (is_constant) parts[i] = ir::cast(types[i].code, parts[i]);
      if (parts[i].defined() && parts[i].type() == types[i]) continue;
      throw error("expected " + ir::to_text(types[i]) + one_of(i, types.size()) + " of its " + what + ", got " +
                  (parts[i].defined() ? ir::to_text(parts[i].type()) : "nothing"));
    }
    return parts;
  }

  void check_operands_only(const Expr& part) const {
    const auto is_operand = [&](const Expr& variable) {
      const auto same = [&](const Expr& operand) { return operand.same_as(variable); };
      return std::any_of(reducer_->left.begin(), reducer_->left.end(), same) ||
             std::any_of(reducer_->right.begin(), reducer_->right.end(), same);
    };
    if (!loads_of(part).empty()) throw error("expected a combination of its operands alone, got a tensor's element");
    for (const Expr& variable : ir::free_vars(part)) {
      if (is_operand(variable)) continue;
      throw error("expected a combination of its operands alone, got '" + variable.as<ir::Var>()->name + "'");
    }
  }

  std::string name_;
  std::shared_ptr<ir::Reducer> reducer_ = std::make_shared<ir::Reducer>();
};

Expr is_nan(const Expr& value) {
  return value.type().is_float() ? value != value : ir::constant(ir::kBool, std::int64_t{0});
}

std::vector<Expr> best_over(ir::ReduceOp op, Expr value, Expr index, const std::vector<ReduceAxis>& axes,
                            Expr condition) {
  const bool greatest = op == ir::ReduceOp::max;
  const auto combine = [&](const std::vector<Expr>& left, const std::vector<Expr>& right) {
    const Expr better = greatest ? right[0] > left[0] : right[0] < left[0];
    const Expr right_wins = better || (is_nan(right[0]) && !is_nan(left[0]));
    const Expr equal = right[0] == left[0] || (is_nan(right[0]) && is_nan(left[0]));
    // -1 stands for no index; as an unsigned number it is the highest.
    const Expr earlier = ir::cast(DType::u64, right[1]) < ir::cast(DType::u64, left[1]);
    const Expr take = right_wins || (equal && earlier);
    return std::vector<Expr>{ir::select(take, right[0], left[0]), ir::select(take, right[1], left[1])};
  };
  const auto identity = [&](const std::vector<ir::Type>& types) {
    return std::vector<Expr>{ir::identity_of(op, types[0]), ir::constant(types[1], std::int64_t{-1})};
  };
  const char* name = greatest ? "argmax" : "argmin";
  if (!index.defined() || !index.type().is_int()) throw CompileError(std::string(name) + ": expected an integer index");
  if (!value.defined() || value.type().is_bool()) throw CompileError(std::string(name) + ": expected numbers");
  index = ir::cast(DType::i64, index);
  return comm_reducer(combine, identity, name)({std::move(value), std::move(index)}, axes, std::move(condition));
}

}  // namespace

CommReducer comm_reducer(CombineFunction combine, IdentityFunction identity, std::string name) {
  return CommReducer(std::move(combine), std::move(identity), std::move(name));
}

std::vector<Expr> CommReducer::operator()(std::vector<Expr> sources, const std::vector<ReduceAxis>& axes,
                                          Expr condition, std::vector<Expr> from) const {
  const auto error = [&](const std::string& text) { return CompileError("reducer '" + name_ + "': " + text); };
  if (sources.empty()) throw error("expected a value to combine");
  if (axes.empty()) throw error("expected at least one reduction axis");
  std::vector<ir::Type> types;
  for (const Expr& source : sources) {
    if (!source.defined() || !source.type().is_scalar()) throw error("expected a value to combine");
    types.push_back(source.type());
  }
  if (!from.empty() && from.size() != sources.size()) {
    throw error("expected " + counted(sources.size(), "value", "values") + " to start from, got " +
                std::to_string(from.size()));
  }
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = ir::cast(types[i].code, from[i]);
  const ir::ReducerRef reducer = Builder(name_).build(types, combine_, identity_);
  std::vector<ir::Axis> ranges;
  for (const ReduceAxis& axis : axes) ranges.push_back(axis.axis());
  std::vector<Expr> components;
  for (std::size_t i = 0; i < sources.size(); ++i)
    components.push_back(ir::Reduce::make(reducer, sources, ranges, condition, from, i));
  return components;
}

Expr CommReducer::operator()(Expr source, const std::vector<ReduceAxis>& axes, Expr condition, Expr from) const {
  std::vector<Expr> start;
  if (from.defined()) start.push_back(std::move(from));
  return (*this)(std::vector<Expr>{std::move(source)}, axes, std::move(condition), std::move(start))[0];
}

std::vector<Expr> argmax_over(Expr value, Expr index, const std::vector<ReduceAxis>& axes, Expr condition) {
  return best_over(ir::ReduceOp::max, std::move(value), std::move(index), axes, std::move(condition));
}
std::vector<Expr> argmin_over(Expr value, Expr index, const std::vector<ReduceAxis>& axes, Expr condition) {
  return best_over(ir::ReduceOp::min, std::move(value), std::move(index), axes, std::move(condition));
}

std::vector<Expr> moments_over(Expr value, const std::vector<ReduceAxis>& axes, Expr condition) {
  if (!value.defined() || !value.type().is_float()) throw CompileError("moments: expected floats");
  const auto combine = [](const std::vector<Expr>& left, const std::vector<Expr>& right) {
    const Expr one = ir::constant(left[0].type(), 1.0);
    const Expr count = left[0] + right[0], apart = right[1] - left[1];
    // The share of two empty parts is 0, whatever it is divided by.
    const Expr share = right[0] / ir::max(count, one);
    return std::vector<Expr>{count, left[1] + apart * share, left[2] + right[2] + apart * apart * left[0] * share};
  };
  const auto identity = [](const std::vector<ir::Type>& types) {
    return std::vector<Expr>(3, ir::constant(types[0], 0.0));
  };
  // A count in float16 would saturate at 2048.
  const DType type = value.type().code;
  const bool narrow = value.type().is_narrow_float();
  if (narrow) value = ir::cast(DType::f32, value);
  const Expr one = ir::constant(value.type(), 1.0), zero = ir::constant(value.type(), 0.0);
  std::vector<Expr> moments =
      comm_reducer(combine, identity, "moments")({one, std::move(value), zero}, axes, std::move(condition));
  for (Expr& moment : moments) moment = ir::cast(type, moment);
  return moments;
}

}  // namespace ferry::lang
