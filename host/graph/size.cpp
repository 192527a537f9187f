#include "host/graph/size.h"

#include "base/quantity_text.h"
#include "crosscompile/analysis/atoms.h"
#include "crosscompile/analysis/count_nodes.h"
#include "crosscompile/backend/manifest_exprs.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/make.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <cmath>

namespace ferry::graph {
namespace {

using ir::BinaryOp;
using ir::Expr;

// Limits of what is computed from the shapes of a file, so that neither time nor memory runs away. A manifest holds
// expressions of this length.
constexpr std::size_t kMaxNodes = 128;
constexpr double kMaxMagnitude = 4.6e18;  // about 2^62

// Returns a bound of the magnitude of every intermediate result where each symbol is 1. Sizes beyond 2^62 would wrap.
double magnitude(const Expr& expr) {
  if (const auto* number = ir::as_int(expr)) return std::fabs(static_cast<double>(*number));
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr) return 1;
  const double left = magnitude(binary->left), right = magnitude(binary->right);
  if (binary->op == BinaryOp::mul) return std::max({left, right, left * right});
  if (binary->op == BinaryOp::add || binary->op == BinaryOp::sub) return left + right;
  return std::max(left, right);
}

std::vector<Expr> symbols_are_sizes(const Expr& expr, const std::set<std::string>* from_zero) {
  std::vector<Expr> facts;
  for (const Expr& symbol : ir::free_vars(expr)) {
    const bool may_be_zero = from_zero != nullptr && from_zero->contains(symbol.as<ir::Var>()->name);
    facts.push_back(symbol >= (may_be_zero ? 0 : 1));
  }
  return facts;
}

// Returns b with the variables of a where the names are the same.
Expr with_variables_of(const Expr& a, const Expr& b) {
  ir::Substitution values;
  const std::vector<Expr> known = ir::free_vars(a);
  for (const Expr& var : ir::free_vars(b)) {
    for (const Expr& other : known) {
      if (other.as<ir::Var>()->name == var.as<ir::Var>()->name) values.emplace(var.get(), other);
    }
  }
  return values.empty() ? b : ir::substitute(b, values);
}

Expr checked(const Expr& expr, const std::set<std::string>* from_zero) {
  if (magnitude(expr) > kMaxMagnitude) throw CompileError("expected sizes below 2^62, got " + to_text(expr));
  const Expr simple = passes::simplify(expr, symbols_are_sizes(expr, from_zero));
  if (analysis::count_nodes(simple) > kMaxNodes)
    throw CompileError("expected sizes of simple form, got " + to_text(expr));
  return simple;
}

// Returns a / b as polynomials, if the division leaves nothing. Each step removes the last term of what is left.
std::optional<analysis::Polynomial> quotient(analysis::Polynomial left, const analysis::Polynomial& divisor) {
  using namespace analysis;
  if (!left.valid || !divisor.valid) return std::nullopt;
  const auto last = [](const Polynomial& p) { return p.terms.empty() ? Term{p.constant, {}} : p.terms.back(); };
  const Term by = last(divisor);
  Polynomial result = constant_polynomial(0);
  for (std::size_t step = 0; step <= kMaxTerms; ++step) {
    const Term term = last(left);
    if (term.coefficient == 0) return result;
    Product product;
    if (by.coefficient == 0 || term.coefficient % by.coefficient != 0) return std::nullopt;
    if (!divide(term.product, by.product, product)) return std::nullopt;
    const Polynomial part = product.degree == 0 ? constant_polynomial(term.coefficient / by.coefficient)
                                                : from_terms({{term.coefficient / by.coefficient, product}}, 0);
    result = add(result, part);
    left = add(left, multiply(part, divisor), -1);
    if (!result.valid || !left.valid) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Size::Size(std::int64_t value) : expr_(value) {}

Size Size::symbol(const std::string& name, bool may_be_zero) {
  const std::set<std::string> names = {name};
  return {ir::Var::make(name), may_be_zero ? std::make_shared<const std::set<std::string>>(names) : nullptr};
}

Size::Names Size::united(const Size& a, const Size& b) {
  if (a.from_zero_ == nullptr || a.from_zero_ == b.from_zero_) return b.from_zero_;
  if (b.from_zero_ == nullptr) return a.from_zero_;
  std::set<std::string> names = *a.from_zero_;
  names.insert(b.from_zero_->begin(), b.from_zero_->end());
  return std::make_shared<const std::set<std::string>>(std::move(names));
}

Size Size::combined(BinaryOp op, const Size& a, const Size& b) {
  Names from_zero = united(a, b);
  Expr expr = checked(ir::Binary::make(op, a.expr_, with_variables_of(a.expr_, b.expr_)), from_zero.get());
  return {std::move(expr), std::move(from_zero)};
}

bool Size::proves(const Size& a, const Size& b, BinaryOp comparison) {
  const Expr holds = ir::Binary::make(comparison, a.expr_, with_variables_of(a.expr_, b.expr_));
  return passes::can_prove(holds, symbols_are_sizes(holds, united(a, b).get()));
}

std::optional<std::int64_t> Size::constant() const {
  const std::int64_t* number = ir::as_int(expr_);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::vector<std::string> Size::symbols() const {
  std::vector<std::string> names;
  for (const Expr& var : ir::free_vars(expr_)) names.push_back(var.as<ir::Var>()->name);
  return names;
}

bool operator==(const Size& a, const Size& b) {
  const std::optional<std::int64_t> left = a.constant(), right = b.constant();
  if (left && right) return *left == *right;
  return Size::proves(a, b, BinaryOp::eq);
}

Size operator+(const Size& a, const Size& b) { return Size::combined(BinaryOp::add, a, b); }
Size operator-(const Size& a, const Size& b) { return Size::combined(BinaryOp::sub, a, b); }
Size operator*(const Size& a, const Size& b) { return Size::combined(BinaryOp::mul, a, b); }
Size min(const Size& a, const Size& b) { return Size::combined(BinaryOp::min, a, b); }
Size max(const Size& a, const Size& b) { return Size::combined(BinaryOp::max, a, b); }

Size floor_divide(const Size& a, const Size& b) {
  if (b.constant() == 0) throw CompileError("expected a divisor other than 0 of the size " + to_text(a));
  return Size::combined(BinaryOp::div, a, b);
}

Size divide_towards_zero(const Size& a, const Size& b) {
  if (b == 1 || proves_less(-1, a)) return floor_divide(a, b);
  return floor_divide(max(a, 0), b) - floor_divide(max(Size(0) - a, 0), b);
}

bool proves_different(const Size& a, const Size& b) {
  const std::optional<std::int64_t> left = a.constant(), right = b.constant();
  if (left && right) return *left != *right;
  return Size::proves(a, b, BinaryOp::ne);
}

bool proves_less(const Size& a, const Size& b) {
  const std::optional<std::int64_t> left = a.constant(), right = b.constant();
  if (left && right) return *left < *right;
  return Size::proves(a, b, BinaryOp::lt);
}

const Size& simpler(const Size& a, const Size& b) {
  return analysis::count_nodes(b.expr()) < analysis::count_nodes(a.expr()) || (b.constant() && !a.constant()) ? b : a;
}

std::optional<Size> divide_exactly(const Size& whole, const Size& part) {
  analysis::Atoms atoms;
  const analysis::Polynomial left = atoms.polynomial(whole.expr());
  const auto result = quotient(left, atoms.polynomial(with_variables_of(whole.expr(), part.expr())));
  if (!result) return std::nullopt;
  Size::Names from_zero = Size::united(whole, part);
  Expr expr = checked(atoms.expression(*result, 1), from_zero.get());
  return Size(std::move(expr), std::move(from_zero));
}

Size element_count(const Shape& shape) {
  Size count = 1;
  for (const Size& size : shape) count = count * size;
  return count;
}

std::string to_text(const Size& size) {
  std::string text = ir::to_text(size.expr());
  std::erase(text, ' ');
  return text;
}

std::string to_text(const Shape& shape) {
  std::vector<std::string> sizes;
  for (const Size& size : shape) sizes.push_back(to_text(size));
  return "[" + join(",", sizes) + "]";
}

ir::Expr substitute(const Size& size, const std::map<std::string, ir::Expr>& values) {
  ir::Substitution by_variable;
  for (const Expr& var : ir::free_vars(size.expr())) {
    const auto found = values.find(var.as<ir::Var>()->name);
    if (found != values.end()) by_variable.emplace(var.get(), found->second);
  }
  return ir::substitute(size.expr(), by_variable);
}

Size substitute(const Size& size, const std::string& symbol, const Size& value) {
  const std::map<std::string, Expr> values = {{symbol, with_variables_of(size.expr(), value.expr())}};
  Size::Names from_zero = Size::united(size, value);
  Expr expr = checked(substitute(size, values), from_zero.get());
  return {std::move(expr), std::move(from_zero)};
}

ManifestExpr to_manifest(const Size& size, std::span<const std::string> symbols) {
  ir::Function function;
  std::map<std::string, ir::Expr> values;
  for (const std::string& name : symbols) {
    function.symbols.push_back(ir::Var::make(name));
    values[name] = function.symbols.back();
  }
  return ferry::to_manifest(substitute(size, values), function, "a size", DivisionByZero::error);
}

}  // namespace ferry::graph
