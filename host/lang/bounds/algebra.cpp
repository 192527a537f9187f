#include "host/lang/bounds/algebra.h"

#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace ferry::lang {
namespace {

constexpr std::size_t kMaxAtoms = 256;

Polynomial checked(Polynomial value) {
  if (!value.valid) throw CompileError("expected a simpler size or index, whose factors fit 64 bits");
  return value;
}

// The power of two that a shift by a constant multiplies or divides by.
std::optional<std::int64_t> power_of_shift(const ir::Binary& shift) {
  const std::int64_t* by = ir::as_int(shift.right);
  if (by == nullptr || *by < 0 || *by > 62) return std::nullopt;
  return std::int64_t{1} << *by;
}

}  // namespace

std::span<const AtomId> atoms_of(const analysis::Term& term) {
  return std::span(term.product.factors).first(term.product.degree);
}

std::optional<std::int64_t> constant_of(const Polynomial& value) {
  return value.is_constant() ? std::optional(value.constant) : std::nullopt;
}

std::string bound_text(const Polynomial& bound) {
  const auto constant = constant_of(bound);
  return constant ? std::to_string(*constant) : "one that depends on sizes";
}

Polynomial without(const Polynomial& sum, const analysis::Term& term) {
  Polynomial rest = sum;
  std::erase(rest.terms, term);
  return rest;
}

AtomId Algebra::number_of(const ir::Expr& atom) {
  const auto known =
      std::find_if(atoms_.begin(), atoms_.end(), [&](const ir::Expr& other) { return ir::equal(other, atom); });
  const auto number = static_cast<AtomId>(known - atoms_.begin() + 1);
  if (known != atoms_.end()) return number;
  if (atoms_.size() >= kMaxAtoms) throw CompileError("expected simpler sizes and indices");
  atoms_.push_back(atom);
  return number;
}

Polynomial Algebra::of_atom(const ir::Expr& atom) { return analysis::atom_polynomial(number_of(atom)); }

Polynomial Algebra::number(std::int64_t value) { return analysis::constant_polynomial(value); }

Polynomial Algebra::of(const ir::Expr& expr) {
  if (const std::int64_t* value = ir::as_int(expr)) return number(*value);
  if (const auto* unary = expr.as<ir::Unary>(); unary != nullptr && unary->op == ir::UnaryOp::neg) {
    return subtract(number(0), of(unary->value));
  }
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr || expr.type() != ir::kIndex) return of_atom(expr);
  switch (binary->op) {
    case ir::BinaryOp::add: return add(of(binary->left), of(binary->right));
    case ir::BinaryOp::sub: return subtract(of(binary->left), of(binary->right));
    case ir::BinaryOp::mul: return multiply(of(binary->left), of(binary->right));
    case ir::BinaryOp::min: return smaller(of(binary->left), of(binary->right));
    case ir::BinaryOp::max: return larger(of(binary->left), of(binary->right));
    case ir::BinaryOp::div:
      if (const std::int64_t* by = ir::as_int(binary->right); by != nullptr && *by > 0) {
        return floor_divide(of(binary->left), *by);
      }
      return of_atom(expr);
    case ir::BinaryOp::shl:
      if (const auto by = power_of_shift(*binary)) return multiply(of(binary->left), number(*by));
      return of_atom(expr);
    case ir::BinaryOp::shr:
      if (const auto by = power_of_shift(*binary)) return floor_divide(of(binary->left), *by);
      return of_atom(expr);
    default: return of_atom(expr);
  }
}

Polynomial Algebra::add(const Polynomial& a, const Polynomial& b) const { return checked(analysis::add(a, b)); }

Polynomial Algebra::subtract(const Polynomial& a, const Polynomial& b) const {
  return checked(analysis::add(a, b, -1));
}

Polynomial Algebra::multiply(const Polynomial& a, const Polynomial& b) const {
  return checked(analysis::multiply(a, b));
}

// Takes multiples of the divisor out of the division: (2*a + x) / 2 is a + x / 2.
Polynomial Algebra::floor_divide(const Polynomial& a, std::int64_t by) {
  Polynomial whole, rest;
  for (const analysis::Term& term : a.terms) {
    if (term.coefficient % by == 0)
      whole.terms.push_back({term.coefficient / by, term.product});
    else
      rest.terms.push_back(term);
  }
  if (rest.terms.empty()) {
    whole.constant = ir::floor_div(a.constant, by);
    return whole;
  }
  const bool exact = a.constant % by == 0;
  (exact ? whole : rest).constant = exact ? a.constant / by : a.constant;
  return add(whole, of_atom(to_expr(rest) / ir::Expr(by)));
}

Polynomial Algebra::smaller(const Polynomial& a, const Polynomial& b) {
  if (proves_non_negative(subtract(b, a))) return a;
  if (proves_non_negative(subtract(a, b))) return b;
  return of_atom(ir::min(to_expr(a), to_expr(b)));
}

Polynomial Algebra::larger(const Polynomial& a, const Polynomial& b) {
  if (proves_non_negative(subtract(a, b))) return a;
  if (proves_non_negative(subtract(b, a))) return b;
  return of_atom(ir::max(to_expr(a), to_expr(b)));
}

bool Algebra::is_non_negative_variable(AtomId number) const {
  return non_negative_.find(atom(number).get()) != non_negative_.end();
}

bool Algebra::proves_non_negative(const Polynomial& value) { return proves(value, 4); }

// Replaces a division, minimum or maximum by a lower bound of the term until only products of non-negative variables
// are left.
bool Algebra::proves(const Polynomial& value, int steps) {
  const auto is_plain = [&](const analysis::Term& term) {
    const std::span<const AtomId> atoms = atoms_of(term);
    return term.coefficient > 0 &&
           std::all_of(atoms.begin(), atoms.end(), [&](AtomId number) { return is_non_negative_variable(number); });
  };
  const bool plain = value.constant >= 0 && std::all_of(value.terms.begin(), value.terms.end(), is_plain);
  if (plain || steps == 0) return plain;
  for (const analysis::Term& term : value.terms) {
    if (!term.product.is_atom()) continue;
    const std::int64_t factor = term.coefficient;
    const ir::Expr replaced = atom(term.product.factors[0]);
    const auto* binary = replaced.as<ir::Binary>();
    if (binary == nullptr) continue;
    const Polynomial rest = without(value, term);
    const auto with = [&](const Polynomial& replacement, std::int64_t by) {
      return proves(add(rest, multiply(replacement, number(by))), steps - 1);
    };
    const bool is_min = binary->op == ir::BinaryOp::min, is_max = binary->op == ir::BinaryOp::max;
    if (is_min || is_max) {
      const bool left = with(of(binary->left), factor), right = with(of(binary->right), factor);
      // -min(x, y) is at least -x and at least -y; min(x, y) is one of x and y.
      return is_min == (factor < 0) ? left || right : left && right;
    }
    const std::int64_t* divisor = ir::as_int(binary->right);
    if (binary->op != ir::BinaryOp::div || divisor == nullptr || *divisor <= 0) continue;
    const Polynomial dividend = of(binary->left);
    if (factor % *divisor == 0) {
      // x - d + 1 <= d * floor(x / d) <= x
      const Polynomial least = factor < 0 ? dividend : subtract(dividend, number(*divisor - 1));
      return with(least, factor / *divisor);
    }
    if (factor > 0 && proves(dividend, steps - 1)) return with({}, 0);
  }
  return false;
}

ir::Expr Algebra::to_expr(const Polynomial& value) const {
  ir::Expr result;
  const auto append = [&](const ir::Expr& amount, bool negative) {
    if (result.defined()) {
      result = negative ? result - amount : result + amount;
    } else {
      result = negative ? -amount : amount;
    }
  };
  const auto product = [&](const analysis::Term& term, std::int64_t size) {
    ir::Expr all;
    for (const AtomId number : atoms_of(term)) all = all.defined() ? all * atom(number) : atom(number);
    return size == 1 ? all : ir::Expr(size) * all;
  };
  for (const analysis::Term& term : value.terms) {
    if (term.coefficient > 0) append(product(term, term.coefficient), false);
  }
  // 5 - N is more readable than -N + 5.
  const bool constant_first = !result.defined() && value.constant > 0;
  if (constant_first) append(ir::Expr(value.constant), false);
  for (const analysis::Term& term : value.terms) {
    if (term.coefficient < 0) append(product(term, -term.coefficient), true);
  }
  if (value.constant == std::numeric_limits<std::int64_t>::min()) checked(analysis::invalid());
  if (value.constant != 0 && !constant_first) append(ir::Expr(std::abs(value.constant)), value.constant < 0);
  return result.defined() ? result : ir::Expr(std::int64_t{0});
}

}  // namespace ferry::lang
