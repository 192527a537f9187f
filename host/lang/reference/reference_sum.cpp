#include "host/lang/reference/reference_sum.h"

#include "ferry/operators.h"
#include "host/lang/reference/float_sum.h"
#include "host/lang/reference/lanes.h"

namespace ferry::lang {

using ir::Expr;

namespace {

// An element of a tensor, converted by casts that only widen it or round an integer.
struct Factor {
  const ir::Load* load = nullptr;
  std::vector<DType> casts;
};

std::optional<Factor> factor_of(const Expr& expr) {
  Factor factor;
  const Expr* inner = &expr;
  while (const auto* cast = inner->as<ir::Cast>()) {
    factor.casts.insert(factor.casts.begin(), cast->type.code);
    inner = &cast->value;
  }
  factor.load = inner->as<ir::Load>();
  if (factor.load == nullptr) return {};
  return factor;
}

Expr square_root(const Expr& value) { return ir::call_math(ir::MathFunction::sqrt, std::vector<Expr>{value}); }

std::optional<SumTerms> product_terms(const ir::Binary& product, const Expr& power, BoundedExprs& exprs,
                                      const FindPowers& find) {
  const auto left = factor_of(product.left), right = factor_of(product.right);
  if (!left || !right || left->load->buffer == right->load->buffer) return {};
  const BoundedExpr a = exprs.of(product.left), b = exprs.of(product.right);
  const BoundedExpr whole = exprs.of(ir::Binary::make(product.op, product.left, product.right));
  if (!a.scale || !b.scale || a.scale->absolute != 0 || b.scale->absolute != 0 || !whole.scale) return {};
  const auto element = [&](const Factor& factor) {
    std::vector<Expr> indices{power};
    for (const Expr& index : factor.load->indices) indices.push_back(exprs.of(index).value);
    return ir::Load::make(find(factor.load->buffer, factor.casts), std::move(indices));
  };
  return SumTerms{whole.value, {}, whole.scale, element(*left) * element(*right)};
}

// The choice stays outermost, where lowering looks for terms that are left out.
std::optional<SumTerms> choice_terms(const ir::IfThenElse& choice, const Expr& power, BoundedExprs& exprs,
                                     const FindPowers& find) {
  const BoundedExpr condition = exprs.of(choice.condition);
  const auto* zero = choice.on_false.as<ir::FloatImm>();
  const auto* product = choice.on_true.as<ir::Binary>();
  if (!condition.is_exact() || zero == nullptr || zero->value != 0 || product == nullptr ||
      product->op != ir::BinaryOp::mul)
    return {};
  std::optional<SumTerms> terms = product_terms(*product, power, exprs, find);
  if (terms) terms->products = ir::if_then_else(condition.value, terms->products, real(0));
  return terms;
}

}  // namespace

SumTerms terms_of(const Expr& source, const Expr& power, BoundedExprs& exprs, const FindPowers& find) {
  std::optional<SumTerms> terms;
  if (const auto* product = source.as<ir::Binary>(); product != nullptr && product->op == ir::BinaryOp::mul)
    terms = product_terms(*product, power, exprs, find);
  else if (const auto* guarded = source.as<ir::IfThenElse>())
    terms = choice_terms(*guarded, power, exprs, find);
  if (terms) return *terms;
  const BoundedExpr term = exprs.of(source);
  return {term.value, term.scale ? Expr() : term.error, term.scale, {}};
}

Expr is_large_error(const Expr& value, const Expr& error, DType accumulator) {
  const Expr independent = magnitude(value) * real(kIndependentRoundings * unit_roundoff(accumulator));
  return error > independent + real(2 * smallest_error(accumulator));
}

BoundedExpr sum_of(const CompanionSums& sums, DType accumulator, DType type, RoundingBound bound) {
  const double unit = unit_roundoff(accumulator), least = smallest_error(accumulator);
  BoundedExpr result{rounded_to(type, sums.value)};
  result.scale = {};
  const Expr additions = ir::max(sums.count - real(1), real(0));
  const Expr terms =
      sums.scale ? sums.size * real(sums.scale->relative) + sums.count * real(sums.scale->absolute) : sums.error;
  Expr error = terms + additions * sums.size * real(unit) + additions * real(least);
  if (bound == RoundingBound::square_root) {
    const Expr root = square_root(sums.square);
    Expr of_terms = terms;
    if (!sums.scale)
      of_terms = ir::select(sums.has_large_errors, terms, square_root(sums.squared_error));
    else if (sums.scale->relative <= kIndependentRoundings * unit)
      of_terms = root * real(sums.scale->relative);
    const Expr random =
        of_terms + square_root(additions) * real(unit) * ir::max(magnitude(sums.value), root) + additions * real(least);
    error = ir::select(additions * real(unit) > real(kMostIndependent), error, random);
  }
  const Expr rounding = magnitude(result.value) * real(unit_roundoff(type)) + real(smallest_error(type));
  error = error + (accumulator != type ? rounding : ir::select(additions > real(0), rounding, real(0)));
  // A partial sum may leave the type's range.
  result.error = ir::select(sums.size > real(largest_of(accumulator) / 2), real(kUnbounded), error);
  return result;
}

}  // namespace ferry::lang
