#include "host/lang/text/polynomial.h"

#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/operators.h"
#include "crosscompile/ir/substitute.h"

#include <algorithm>

namespace ferry::lang {
namespace {

constexpr std::size_t kMaxTerms = 64;
constexpr std::size_t kMaxAtoms = 256;

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw CompileError("expected sizes that fit 64 bits");
  return result;
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw CompileError("expected sizes that fit 64 bits");
  return result;
}

// The power of two that a shift by a constant multiplies or divides by.
std::optional<std::int64_t> power_of_shift(const ir::Binary& shift) {
  const std::int64_t* by = ir::as_int(shift.right);
  if (by == nullptr || *by < 0 || *by > 62) return std::nullopt;
  return std::int64_t{1} << *by;
}

void accumulate(Polynomial& into, const std::vector<std::size_t>& atoms, std::int64_t factor) {
  if (factor == 0) return;
  const auto [term, fresh] = into.terms.emplace(atoms, factor);
  if (fresh) {
    if (into.terms.size() > kMaxTerms) throw CompileError("expected a simpler size or index");
    return;
  }
  term->second = checked_add(term->second, factor);
  if (term->second == 0) into.terms.erase(term);
}

}  // namespace

std::optional<std::int64_t> Polynomial::constant() const {
  if (terms.empty()) return 0;
  if (terms.size() == 1 && terms.begin()->first.empty()) return terms.begin()->second;
  return std::nullopt;
}

std::size_t Algebra::number_of(const ir::Expr& atom) {
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    if (ir::equal(atoms_[i], atom)) return i;
  }
  if (atoms_.size() >= kMaxAtoms) throw CompileError("expected simpler sizes and indices");
  atoms_.push_back(atom);
  return atoms_.size() - 1;
}

Polynomial Algebra::of_atom(const ir::Expr& atom) {
  Polynomial result;
  result.terms.emplace(std::vector<std::size_t>{number_of(atom)}, 1);
  return result;
}

Polynomial Algebra::number(std::int64_t value) {
  Polynomial result;
  accumulate(result, {}, value);
  return result;
}

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

Polynomial Algebra::add(const Polynomial& a, const Polynomial& b) const {
  Polynomial result = a;
  for (const auto& [atoms, factor] : b.terms) accumulate(result, atoms, factor);
  return result;
}

Polynomial Algebra::subtract(const Polynomial& a, const Polynomial& b) const {
  Polynomial result = a;
  for (const auto& [atoms, factor] : b.terms) accumulate(result, atoms, checked_multiply(factor, -1));
  return result;
}

Polynomial Algebra::multiply(const Polynomial& a, const Polynomial& b) const {
  Polynomial result;
  for (const auto& [atoms, factor] : a.terms) {
    for (const auto& [more, by] : b.terms) {
      std::vector<std::size_t> all(atoms.size() + more.size());
      std::merge(atoms.begin(), atoms.end(), more.begin(), more.end(), all.begin());
      accumulate(result, all, checked_multiply(factor, by));
    }
  }
  return result;
}

// Takes multiples of the divisor out of the division: (2*a + x) / 2 is a + x / 2.
Polynomial Algebra::floor_divide(const Polynomial& a, std::int64_t by) {
  Polynomial whole, rest;
  for (const auto& [atoms, factor] : a.terms) {
    const std::int64_t quotient = ir::floor_div(factor, by);
    const bool exact = checked_multiply(quotient, by) == factor;
    if (exact) {
      accumulate(whole, atoms, quotient);
    } else {
      accumulate(rest, atoms, factor);
    }
  }
  if (const auto constant = rest.constant()) return add(whole, number(ir::floor_div(*constant, by)));
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

bool Algebra::is_non_negative_variable(std::size_t number) const {
  return non_negative_.find(atoms_[number].get()) != non_negative_.end();
}

bool Algebra::proves_non_negative(const Polynomial& value) { return proves(value, 4); }

// Replaces a division, minimum or maximum by a lower bound of the term until only products of non-negative variables
// are left.
bool Algebra::proves(const Polynomial& value, int steps) {
  const bool plain = std::all_of(value.terms.begin(), value.terms.end(), [&](const auto& term) {
    return term.second > 0 && std::all_of(term.first.begin(), term.first.end(),
                                          [&](std::size_t number) { return is_non_negative_variable(number); });
  });
  if (plain || steps == 0) return plain;
  for (const auto& [atoms, factor] : value.terms) {
    if (atoms.size() != 1) continue;
    const ir::Expr atom = atoms_[atoms[0]];
    const auto* binary = atom.as<ir::Binary>();
    if (binary == nullptr) continue;
    Polynomial rest = value;
    rest.terms.erase(atoms);
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
  const auto product = [&](const std::vector<std::size_t>& atoms, std::int64_t size) {
    ir::Expr all;
    for (const std::size_t number : atoms) all = all.defined() ? all * atoms_[number] : atoms_[number];
    return size == 1 ? all : ir::Expr(size) * all;
  };
  std::int64_t constant = 0;
  for (const auto& [atoms, factor] : value.terms) {
    if (atoms.empty()) {
      constant = factor;
    } else if (factor > 0) {
      append(product(atoms, factor), false);
    }
  }
  // 5 - N is more readable than -N + 5.
  const bool constant_first = !result.defined() && constant > 0;
  if (constant_first) append(ir::Expr(constant), false);
  for (const auto& [atoms, factor] : value.terms) {
    if (!atoms.empty() && factor < 0) append(product(atoms, checked_multiply(factor, -1)), true);
  }
  if (constant != 0 && !constant_first)
    append(ir::Expr(constant > 0 ? constant : checked_multiply(constant, -1)), constant < 0);
  return result.defined() ? result : ir::Expr(std::int64_t{0});
}

}  // namespace ferry::lang
