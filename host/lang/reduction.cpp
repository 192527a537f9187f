#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "ferry/lang/tensor.h"
#include "host/lang/names.h"

namespace ferry::lang {
namespace {

const char* name_of(ir::ReduceOp op) {
  switch (op) {
    case ir::ReduceOp::sum: return "sum";
    case ir::ReduceOp::prod: return "prod";
    case ir::ReduceOp::min: return "min";
    case ir::ReduceOp::max: return "max";
    case ir::ReduceOp::any: return "any";
    case ir::ReduceOp::all: return "all";
    case ir::ReduceOp::user: return "a user reduction";
  }
  return "";
}

}  // namespace

ReduceAxis::ReduceAxis(Expr min, Expr extent, std::string name) {
  check_name(name, "a reduction axis");
  for (const Expr& bound : {min, extent}) {
    if (!bound.defined() || !bound.type().is_int() || !bound.type().is_scalar()) {
      throw CompileError("reduction axis '" + name + "': expected integers as its range");
    }
  }
  axis_ = {ir::Var::make(std::move(name)), ir::cast(DType::i64, min), ir::cast(DType::i64, extent)};
}

ReduceAxis reduce_axis(Expr extent, std::string name) {
  return ReduceAxis(Expr(0), std::move(extent), std::move(name));
}

Expr reduce(ir::ReduceOp op, Expr source, const std::vector<ReduceAxis>& axes, Expr condition, Expr from) {
  const bool logic = op == ir::ReduceOp::any || op == ir::ReduceOp::all;
  if (!source.defined() || !source.type().is_scalar() || op == ir::ReduceOp::user) {
    throw CompileError(std::string(name_of(op)) + ": expected a value to combine");
  }
  if (axes.empty()) throw CompileError(std::string(name_of(op)) + ": expected at least one reduction axis");
  if (!logic && source.type().is_bool()) {
    throw CompileError(std::string(name_of(op)) + ": expected numbers, got bool; cast it first");
  }
  if (logic && !source.type().is_bool()) source = ir::cast(DType::boolean, source);
  std::vector<ir::Axis> ranges;
  for (const ReduceAxis& axis : axes) ranges.push_back(axis.axis());
  const ir::ReducerRef reducer = ir::make_reducer(op, source.type());
  std::vector<Expr> start;
  if (from.defined()) start.push_back(ir::cast(source.type().code, from));
  return ir::Reduce::make(reducer, {std::move(source)}, std::move(ranges), std::move(condition), std::move(start));
}

Expr sum(Expr source, const std::vector<ReduceAxis>& axes) {
  return reduce(ir::ReduceOp::sum, std::move(source), axes);
}
Expr prod(Expr source, const std::vector<ReduceAxis>& axes) {
  return reduce(ir::ReduceOp::prod, std::move(source), axes);
}
Expr min_over(Expr source, const std::vector<ReduceAxis>& axes) {
  return reduce(ir::ReduceOp::min, std::move(source), axes);
}
Expr max_over(Expr source, const std::vector<ReduceAxis>& axes) {
  return reduce(ir::ReduceOp::max, std::move(source), axes);
}
Expr any_over(Expr source, const std::vector<ReduceAxis>& axes) {
  return reduce(ir::ReduceOp::any, std::move(source), axes);
}
Expr all_over(Expr source, const std::vector<ReduceAxis>& axes) {
  return reduce(ir::ReduceOp::all, std::move(source), axes);
}

Expr any_of(const std::vector<Expr>& conditions) {
  Expr any = conditions.at(0);
  for (std::size_t i = 1; i < conditions.size(); ++i) any = any || conditions[i];
  return any;
}

Expr all_of(const std::vector<Expr>& conditions) {
  Expr all = conditions.at(0);
  for (std::size_t i = 1; i < conditions.size(); ++i) all = all && conditions[i];
  return all;
}

}  // namespace ferry::lang
