#include "host/lang/reference/reference_program.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"
#include "host/lang/expression_size.h"
#include "host/lang/reference/float_sum.h"
#include "host/lang/reference/lanes.h"
#include "host/lang/reference/reference_source.h"
#include "host/lang/reference/reference_sum.h"
#include "host/lang/stage.h"
#include "host/lang/stages.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace ferry::lang {

namespace {

// Estimates for one core: an iteration of a contraction in registers, and an operation of any other loop.
constexpr double kContraction = 0.06, kOperation = 0.2;

Expr count_of(const std::vector<ir::Axis>& axes) {
  Expr count(1);
  for (const ir::Axis& axis : axes) count = count * ir::max(axis.extent, 0);
  return count;
}

std::vector<ir::Axis> renamed(const std::vector<ir::Axis>& axes, ir::Substitution& names) {
  std::vector<ir::Axis> fresh;
  for (const ir::Axis& axis : axes) {
    fresh.push_back({ir::Var::make(axis.var.as<ir::Var>()->name), axis.min, axis.extent});
    names.emplace(axis.var.get(), fresh.back().var);
  }
  return fresh;
}

class Builder {
 public:
  Builder(const Program& program, RoundingBound bound)
      : program_(program),
        bound_(bound),
        exprs_([this](const ir::BufferRef& buffer) -> const BoundedBuffer& { return buffers_.at(buffer.get()); },
               program.context.get()) {}

  ReferenceProgram build() {
    std::vector<Parameter> parameters = inputs();
    for (const Tensor& tensor : computed_tensors(program_)) {
      if (tensor.stage()->sequence != nullptr) throw CompileError("it computes elements in order");
      add(tensor);
    }
    for (std::size_t p = 0; p < program_.parameters.size(); ++p) {
      const Parameter& parameter = program_.parameters[p];
      if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::in) continue;
      const BoundedBuffer& buffer = buffers_.at(parameter.tensor.buffer().get());
      parameters.push_back(out(Tensor(buffer.value)));
      if (buffer.error != nullptr) parameters.push_back(out(Tensor(buffer.error)));
      result_.outputs.push_back({p, buffer.error != nullptr});
    }
    result_.program = make_program(program_.name, std::move(parameters), program_.requirements, program_.context);
    return std::move(result_);
  }

 private:
  std::vector<Parameter> inputs() {
    std::vector<Parameter> parameters;
    for (const Parameter& parameter : program_.parameters) {
      if (parameter.kind == ParameterKind::scalar) {
        parameters.push_back(parameter);
        continue;
      }
      if (parameter.direction == Direction::out) continue;
      const Tensor& tensor = parameter.direction == Direction::in ? parameter.tensor : parameter.initial;
      parameters.push_back(in(tensor));
      parameters.back().name = parameter.name;
      buffers_[tensor.buffer().get()] = {tensor.buffer(), nullptr};
    }
    return parameters;
  }

  // Adds a stage with variables of its own.
  std::vector<Tensor> define(const std::string& name, const std::vector<ir::Axis>& axes, std::vector<Expr> values,
                             const std::vector<std::string>& names) {
    ir::Substitution variables;
    std::vector<ir::Axis> own = renamed(axes, variables);
    double operations = 0;
    for (Expr& value : values) {
      operations += static_cast<double>(ExpressionSize().operations(value));
      value = ir::substitute(value, variables);
    }
    const Expr elements = count_of(axes);
    result_.costs.push_back({elements, kOperation * operations, elements * static_cast<std::int64_t>(values.size())});
    return compute_over(std::move(own), std::move(values), name, names);
  }

  // Reduces the source over the points of a reduction in a stage of its own.
  ir::BufferRef reduced(const std::string& name, const std::vector<ir::Axis>& axes, const ir::Reduce& reduce,
                        ir::ReduceOp op, const Expr& source, bool is_contraction = false) {
    ir::Substitution variables;
    const std::vector<ir::Axis> own = renamed(axes, variables), points = renamed(reduce.axes, variables);
    const Expr condition =
        reduce.condition.defined() ? ir::substitute(exprs_.of(reduce.condition).value, variables) : Expr();
    const Expr value =
        ir::Reduce::make(ir::make_reducer(op, source.type()), {ir::substitute(source, variables)}, points, condition);
    const bool is_fast = is_contraction && !condition.defined();
    result_.costs.push_back(
        {count_of(axes) * count_of(reduce.axes),
         is_fast ? kContraction : kOperation * static_cast<double>(1 + ExpressionSize().operations(source)),
         count_of(axes)});
    return compute_over(own, {value}, name)[0].buffer();
  }

  // Returns the element at these axes, after a first index if it is given.
  static Expr element(const ir::BufferRef& buffer, const std::vector<ir::Axis>& axes,
                      std::optional<std::int64_t> first = {}) {
    std::vector<Expr> indices;
    if (first) indices.emplace_back(*first);
    for (const ir::Axis& axis : axes) indices.push_back(axis.var);
    return ir::Load::make(buffer, std::move(indices));
  }

  void add(const Tensor& tensor) {
    const Stage& stage = *tensor.stage();
    const Expr& value = stage.values[tensor.buffer()->component];
    const auto* reduce = value.as<ir::Reduce>();
    const BoundedExpr result = reduce == nullptr ? exprs_.of(value) : reduction(tensor, *reduce);
    std::vector<Expr> values{ir::cast(tensor.dtype(), result.value)};
    std::vector<std::string> names{tensor.name() + ".value"};
    if (!result.is_exact()) {
      values.push_back(result.error);
      names.push_back(tensor.name() + ".error");
    }
    const std::vector<Tensor> made = define(names[0], stage.axes, std::move(values), names);
    buffers_[tensor.buffer().get()] = {made[0].buffer(), result.is_exact() ? nullptr : made[1].buffer()};
  }

  BoundedExpr reduction(const Tensor& tensor, const ir::Reduce& reduce) {
    const ir::ReduceOp op = reduce.reducer->op;
    if (op == ir::ReduceOp::user) throw CompileError("it combines tuples");
    const DType accumulator = reduce.sources[reduce.component].type().code;
    if (!is_float(accumulator) || op == ir::ReduceOp::min || op == ir::ReduceOp::max)
      return without_rounding(tensor, reduce);
    if (op != ir::ReduceOp::sum) throw CompileError("it multiplies many floats");
    // They would have to be added without rounding.
    if (accumulator == DType::f64) throw CompileError("it adds up float64");
    return float_sum(tensor, reduce, accumulator);
  }

  BoundedExpr without_rounding(const Tensor& tensor, const ir::Reduce& reduce) {
    const ir::ReduceOp op = reduce.reducer->op;
    const std::vector<ir::Axis>& axes = tensor.stage()->axes;
    const BoundedExpr term = exprs_.of(reduce.sources[reduce.component]);
    BoundedExpr result{element(reduced(tensor.name() + ".all", axes, reduce, op, term.value), axes)};
    const bool adds = op == ir::ReduceOp::sum;
    if (!term.is_exact())
      result.error = element(
          reduced(tensor.name() + ".errors", axes, reduce, adds ? ir::ReduceOp::sum : ir::ReduceOp::max, term.error),
          axes);
    if (!reduce.init.empty()) {
      const BoundedExpr start = exprs_.of(reduce.init[reduce.component]);
      result.value = combined(op, start.value, result.value);
      result.error = adds ? error_sum(result.error, start.error) : error_max(result.error, start.error);
    }
    // Over no points, the largest error is the identity of the maximum.
    if (!result.is_exact()) result.error = ir::max(result.error, real(0));
    return result;
  }

  static Expr combined(ir::ReduceOp op, const Expr& a, const Expr& b) {
    switch (op) {
      case ir::ReduceOp::sum: return a + b;
      case ir::ReduceOp::prod: return a * b;
      case ir::ReduceOp::min: return ir::min(a, b);
      case ir::ReduceOp::max: return ir::max(a, b);
      case ir::ReduceOp::any: return a || b;
      case ir::ReduceOp::all: return a && b;
      case ir::ReduceOp::user: break;
    }
    throw InternalError("reference: a reducer of no known operation");
  }

  BoundedExpr float_sum(const Tensor& tensor, const ir::Reduce& reduce, DType accumulator) {
    const std::vector<ir::Axis>& axes = tensor.stage()->axes;
    const bool is_random = bound_ == RoundingBound::square_root;
    const Expr power = ir::Var::make("power");
    const SumTerms terms =
        terms_of(reduce.sources[reduce.component], power, exprs_,
                 [&](const ir::BufferRef& buffer, const std::vector<DType>& casts) { return powers(buffer, casts); });
    const auto sum = [&](const char* suffix, const Expr& source) {
      return element(reduced(tensor.name() + suffix, axes, reduce, ir::ReduceOp::sum, source), axes);
    };
    CompanionSums sums;
    sums.count = reduce.condition.defined() ? sum(".count", real(1)) : ir::cast(DType::f64, count_of(reduce.axes));
    if (terms.products.defined()) {
      std::vector<ir::Axis> with_power = axes;
      with_power.insert(with_power.begin(), {power, Expr(0), Expr(powers_needed())});
      const ir::BufferRef all =
          reduced(tensor.name() + ".sums", with_power, reduce, ir::ReduceOp::sum, terms.products, true);
      sums.value = element(all, axes, 0);
      sums.size = element(all, axes, 1);
      if (is_random) sums.square = element(all, axes, 2);
    } else {
      sums.value = sum(".sum", terms.value);
      sums.size = sum(".sizes", magnitude(terms.value));
      if (is_random) sums.square = sum(".squares", shared(terms.value, [](const Expr& x) { return x * x; }));
    }
    sums.scale = terms.scale;
    if (!terms.scale) {
      sums.error = sum(".errors", terms.error);
      if (is_random) {
        sums.squared_error = sum(".squared_errors", shared(terms.error, [](const Expr& e) { return e * e; }));
        const Expr is_large = ir::select(is_large_error(terms.value, terms.error, accumulator), real(1), real(0));
        sums.has_large_errors =
            element(reduced(tensor.name() + ".large", axes, reduce, ir::ReduceOp::max, is_large), axes) > real(0);
      }
    }
    if (!reduce.init.empty()) add_start(exprs_.of(reduce.init[reduce.component]), accumulator, sums);
    return sum_of(sums, accumulator, tensor.dtype(), bound_);
  }

  // Makes the start of a sum a term of it.
  void add_start(const BoundedExpr& start, DType accumulator, CompanionSums& sums) const {
    const bool is_random = bound_ == RoundingBound::square_root;
    const Expr error = start.is_exact() ? real(0) : start.error;
    if (sums.scale) {
      const double relative = sums.scale->relative;
      sums.error = sums.size * real(relative) + sums.count * real(sums.scale->absolute);
      if (is_random) sums.squared_error = sums.square * real(relative * relative);
      sums.has_large_errors =
          ir::constant(ir::kBool, std::int64_t{relative > kIndependentRoundings * unit_roundoff(accumulator)});
      sums.scale = {};
    }
    sums.error = sums.error + error;
    if (is_random) {
      sums.squared_error = sums.squared_error + error * error;
      sums.square = sums.square + start.value * start.value;
      sums.has_large_errors = sums.has_large_errors || is_large_error(start.value, error, accumulator);
    }
    sums.value = sums.value + start.value;
    sums.size = sums.size + magnitude(start.value);
    sums.count = sums.count + real(1);
  }

  std::int64_t powers_needed() const { return bound_ == RoundingBound::square_root ? 3 : 2; }

  ir::BufferRef powers(const ir::BufferRef& buffer, const std::vector<DType>& casts) {
    const auto key = std::pair(buffer.get(), casts);
    if (const auto found = powers_.find(key); found != powers_.end()) return found->second;
    std::vector<ir::Axis> axes;
    for (std::size_t d = 0; d < buffer->shape.size(); ++d)
      axes.push_back({ir::Var::make("i" + std::to_string(d)), Expr(0), buffer->shape[d]});
    std::string name = buffer->name + ".powers";
    Expr converted = element(buffer, axes);
    for (const DType type : casts) {
      converted = ir::cast(type, converted);
      name += std::string(".") + dtype_name(type);
    }
    const Expr value = exprs_.of(converted).value;
    const Expr power = ir::Var::make("power");
    axes.insert(axes.begin(), {power, Expr(0), Expr(powers_needed())});
    const Expr size = magnitude(value);
    const Expr others = bound_ == RoundingBound::square_root ? ir::select(power == 1, size, value * value) : size;
    const ir::BufferRef powers = define(name, axes, {ir::select(power == 0, value, others)}, {})[0].buffer();
    powers_.emplace(key, powers);
    return powers;
  }

  const Program& program_;
  RoundingBound bound_;
  BoundedExprs exprs_;
  std::unordered_map<const ir::Buffer*, BoundedBuffer> buffers_;
  std::map<std::pair<const ir::Buffer*, std::vector<DType>>, ir::BufferRef> powers_;
  ReferenceProgram result_;
};

}  // namespace

ReferenceProgram reference_program(const Program& program, RoundingBound bound) {
  return Builder(program, bound).build();
}

ReferenceCost cost_of(const ReferenceProgram& reference, const Program& program, std::span<const std::int64_t> symbols,
                      std::span<const void* const> arguments, int threads) {
  const CallValues call = values_of_call(program, symbols, arguments, RoundingBound::worst_case);
  ReferenceCost cost;
  for (const ReferenceProgram::Cost& stage : reference.costs) {
    const auto evaluate = [&](const Expr& expr) { return static_cast<double>(call.evaluate(expr)); };
    cost.seconds += evaluate(stage.iterations) * stage.nanoseconds * 1e-9 / std::max(threads, 1);
    cost.bytes += evaluate(stage.elements) * static_cast<double>(sizeof(double));
  }
  return cost;
}

}  // namespace ferry::lang
