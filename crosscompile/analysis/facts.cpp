#include "crosscompile/analysis/facts.h"

#include "crosscompile/analysis/wrapping.h"
#include "crosscompile/ir/substitute.h"

#include <algorithm>

namespace ferry::analysis {
namespace {

using namespace ir;

// Limits of the rule that sums over sizes do not overflow, and what it leaves for the terms with known ranges.
constexpr Int128 kSmall = kLargestFactor;
constexpr Int128 kRoom = Int128{1} << 62;

Int128 ceil_div(Int128 a, Int128 b) { return -floor_div(-a, b); }

// Whether a known bound is beyond what sizes and loop variables may be.
bool is_far(Interval range) {
  return (range.bounded_below() && (range.lo > kSmall || range.lo < -kSmall)) ||
         (range.bounded_above() && (range.hi > kSmall || range.hi < -kSmall));
}

}  // namespace

BinaryOp opposite(BinaryOp comparison) {
  switch (comparison) {
    case BinaryOp::lt: return BinaryOp::ge;
    case BinaryOp::le: return BinaryOp::gt;
    case BinaryOp::gt: return BinaryOp::le;
    case BinaryOp::ge: return BinaryOp::lt;
    case BinaryOp::eq: return BinaryOp::ne;
    default: return BinaryOp::eq;
  }
}

Facts::Scope::Scope(Facts& facts)
    : facts_(facts),
      undo_(facts.undo_.size()),
      inequalities_(facts.inequalities_.size()),
      conditions_(facts.conditions_.size()),
      depth_(facts.depth_) {
  ++facts_.depth_;
}

Facts::Scope::~Scope() {
  while (facts_.undo_.size() > undo_) {
    facts_.known_[facts_.undo_.back().atom] = std::move(facts_.undo_.back().before);
    facts_.undo_.pop_back();
  }
  facts_.inequalities_.resize(inequalities_);
  facts_.conditions_.resize(conditions_);
  facts_.depth_ = depth_;
  ++facts_.generation_;
}

Facts::Known& Facts::change(AtomId atom) {
  if (known_.size() <= atom) known_.resize(atoms.size());
  undo_.push_back({atom, known_[atom]});
  ++generation_;
  return known_[atom];
}

void Facts::enter_loop(const Expr& var, const Expr& min, const Expr& extent) {
  const Polynomial first = atoms.polynomial(min);
  const Polynomial count = atoms.polynomial(extent);
  Polynomial last = add(add(first, count), constant_polynomial(-1));
  const bool bounded = first.valid && last.valid && is_exact(first) && is_exact(count) && is_exact(last);
  const AtomId atom = atoms.variable(var);
  if (atom == 0) return;
  Known now;
  now.level = depth_ + 1;
  if (!bounded) {
    // The variable of a loop from 0 is never negative, whatever the extent is.
    now.range = Interval::of(DType::i64);
    if (first.is_constant() && first.constant == 0) now.range.lo = 0;
  } else if (!atoms.is_volatile(first) && !atoms.is_volatile(count)) {
    now.lower.push_back(first);
    now.upper.push_back(last);
  }
  if (bounded) now.range = {range(first).lo, range(last).hi};
  change(atom) = std::move(now);
  if (bounded && !atoms.is_volatile(count)) {
    learn_nonnegative(add(count, constant_polynomial(-1)));
    learn_positive(extent);
    // A loop over the rest of a range, from `first` to an end beyond it.
    const auto* rest = extent.as<Binary>();
    if (rest != nullptr && rest->op == BinaryOp::sub && atoms.polynomial(rest->right) == first &&
        proves_nonnegative(first)) {
      learn_positive(rest->left);
    }
  }
}

// If a product of non-negative factors is positive, none of them is zero. This works on the expression, because the
// expanded polynomial no longer has the factors. A minimum is positive where both sides are, and (x + k) / c where
// x >= c - k.
void Facts::learn_positive(const Expr& product) {
  if (const auto* whole = product.as<Binary>(); whole != nullptr && whole->op == BinaryOp::min) {
    learn_positive(whole->left);
    return learn_positive(whole->right);
  } else if (whole != nullptr && whole->op == BinaryOp::div) {
    const std::int64_t* divisor = as_int(whole->right);
    const Polynomial dividend = atoms.polynomial(whole->left);
    if (divisor == nullptr || *divisor < 1 || !is_exact(dividend) || atoms.is_volatile(dividend)) return;
    const auto* sum = whole->left.as<Binary>();
    const std::int64_t* more = sum != nullptr && sum->op == BinaryOp::add ? as_int(sum->right) : nullptr;
    if (more == nullptr) return learn_positive(whole->left);
    return *more < *divisor ? learn_positive(sum->left) : void();
  }
  std::vector<Expr> open = {product};
  std::vector<Polynomial> factors;
  while (!open.empty()) {
    const Expr next = open.back();
    open.pop_back();
    if (const auto* binary = next.as<Binary>(); binary != nullptr && binary->op == BinaryOp::mul) {
      open.insert(open.end(), {binary->left, binary->right});
      continue;
    }
    factors.push_back(atoms.polynomial(next));
    const Polynomial& factor = factors.back();
    if (!factor.valid || !is_exact(factor) || atoms.is_volatile(factor) || !proves_nonnegative(factor)) return;
  }
  if (factors.size() < 2) return;
  for (const Polynomial& factor : factors)
    if (!factor.is_constant() && range(factor).lo < 1) learn_nonnegative(add(factor, constant_polynomial(-1)));
}

void Facts::define(const Expr& var, const Expr& value) {
  if (var.type().element() != kIndex) return;
  const Polynomial polynomial = atoms.polynomial(value);
  const AtomId atom = atoms.variable(var);
  if (atom == 0) return;
  Known now;
  now.level = depth_ + 1;
  now.range = value_range(polynomial);
  if (polynomial.valid && is_exact(polynomial) && !atoms.is_volatile(polynomial)) {
    now.lower.push_back(polynomial);
    now.upper.push_back(polynomial);
  }
  change(atom) = std::move(now);
}

void Facts::limit(const Expr& var, Interval range) {
  if (const AtomId atom = atoms.variable(var); atom != 0) learn_range(atom, range);
}

void Facts::learn_range(AtomId atom, Interval range) {
  const Interval before = this->range(atom);
  const Interval now = intersection(before, range);
  // A contradiction means that the place is unreachable; nothing can be gained from it.
  if (now.lo > now.hi || (now.lo == before.lo && now.hi == before.hi)) return;
  Known& known = change(atom);
  known.range = intersection(known.range, range);
}

void Facts::learn_nonnegative(const Polynomial& polynomial) {
  if (!polynomial.valid || polynomial.terms.empty()) return;
  inequalities_.push_back(polynomial);
  ++generation_;
  learn_bounds(polynomial);
  // Derives a bound for each term from the largest possible value of the others.
  for (const Term& term : polynomial.terms) {
    Polynomial others = polynomial;
    std::erase_if(others.terms, [&](const Term& other) { return other.product == term.product; });
    const Int128 best = range(others).hi;
    if (best >= kInfinity) continue;
    const Int128 coefficient = term.coefficient;
    if (term.product.is_atom()) {
      const AtomId atom = term.product.factors[0];
      if (coefficient > 0) {
        learn_range(atom, {ceil_div(-best, coefficient), kInfinity});
      } else {
        learn_range(atom, {-kInfinity, floor_div(best, -coefficient)});
      }
    } else if (coefficient > 0 && best < 0) {
      // If a product of non-negative factors is positive, none of them is zero.
      const auto* first = term.product.factors.begin();
      const auto* last = first + term.product.degree;
      if (std::all_of(first, last, [&](AtomId factor) { return range(factor).lo >= 0; })) {
        std::for_each(first, last, [&](AtomId factor) { learn_range(factor, {1, kInfinity}); });
      }
    }
  }
}

// Derives bounds of the variables that were defined last, in terms of the others.
void Facts::learn_bounds(const Polynomial& polynomial) {
  std::uint32_t highest = 0;
  for (const Term& term : polynomial.terms) {
    for (std::size_t i = 0; i < term.product.degree; ++i) highest = std::max(highest, level(term.product.factors[i]));
  }
  for (const Term& term : polynomial.terms) {
    if (!term.product.is_atom() || (term.coefficient != 1 && term.coefficient != -1)) continue;
    const AtomId atom = term.product.factors[0];
    if (atoms[atom].kind != AtomKind::variable || level(atom) < highest) continue;
    const Split split = split_by(polynomial, atom);
    if (!split.slope.is_constant()) continue;
    Known& known = change(atom);
    if (term.coefficient == 1) {
      known.lower.push_back(scale(split.rest, -1));
    } else {
      known.upper.push_back(split.rest);
    }
  }
}

void Facts::learn_different(const Polynomial& difference) {
  if (difference.terms.size() != 1 || !difference.terms[0].product.is_atom()) return;
  const Term& term = difference.terms[0];
  if (Int128{difference.constant} % term.coefficient != 0) return;
  const AtomId atom = term.product.factors[0];
  const Int128 value = -(Int128{difference.constant} / term.coefficient);
  const Interval now = range(atom);
  if (now.lo == value) learn_range(atom, {value + 1, kInfinity});
  if (now.hi == value) learn_range(atom, {-kInfinity, value - 1});
}

void Facts::learn_comparison(BinaryOp op, const Expr& left, const Expr& right) {
  if (left.type() != kIndex) return;
  const Polynomial a = atoms.polynomial(left);
  const Polynomial b = atoms.polynomial(right);
  if (!a.valid || !b.valid || !is_exact(a) || !is_exact(b)) return;
  switch (op) {
    case BinaryOp::lt:
      learn_nonnegative(add(add(b, a, -1), constant_polynomial(-1)));
      if (range(a).lo >= 0) learn_positive(right);
      break;
    case BinaryOp::le:
      learn_nonnegative(add(b, a, -1));
      if (range(a).lo >= 1) learn_positive(right);
      break;
    case BinaryOp::gt:
      learn_nonnegative(add(add(a, b, -1), constant_polynomial(-1)));
      if (range(b).lo >= 0) learn_positive(left);
      break;
    case BinaryOp::ge:
      learn_nonnegative(add(a, b, -1));
      if (range(b).lo >= 1) learn_positive(left);
      break;
    case BinaryOp::eq:
      learn_nonnegative(add(a, b, -1));
      learn_nonnegative(add(b, a, -1));
      break;
    case BinaryOp::ne: {
      const Polynomial difference = add(a, b, -1);
      if (difference.valid) learn_different(difference);
      break;
    }
    default: break;
  }
}

void Facts::assume(const Expr& condition, bool truth) {
  if (!condition.defined() || condition.type() != kBool || as_int(condition) != nullptr) return;
  if (const auto* negation = condition.as<Unary>()) return assume(negation->value, !truth);
  const auto* binary = condition.as<Binary>();
  if (binary != nullptr &&
      ((binary->op == BinaryOp::logical_and && truth) || (binary->op == BinaryOp::logical_or && !truth))) {
    assume(binary->left, truth);
    assume(binary->right, truth);
    return;
  }
  if (touches_memory(condition)) return;
  conditions_.push_back({condition, truth});
  if (binary == nullptr || !is_comparison(binary->op)) return;
  learn_comparison(truth ? binary->op : opposite(binary->op), binary->left, binary->right);
}

std::optional<bool> Facts::known(const Expr& condition) const {
  for (auto entry = conditions_.rbegin(); entry != conditions_.rend(); ++entry) {
    if (equal(entry->expr, condition)) return entry->truth;
  }
  return std::nullopt;
}

Interval Facts::range_of(const Product& product) const {
  Interval result = Interval::point(1);
  for (std::size_t i = 0; i < product.degree; ++i) result = result * range(product.factors[i]);
  return result;
}

Interval Facts::range(const Polynomial& polynomial) const {
  if (!polynomial.valid) return {};
  Interval result = Interval::point(polynomial.constant);
  for (const Term& term : polynomial.terms) result = result + scaled(range_of(term.product), term.coefficient);
  return result;
}

bool Facts::is_exact(const Polynomial& polynomial) const {
  if (!polynomial.valid) return false;
  // The value of an atom is exact by definition.
  if (polynomial.is_constant() || polynomial.is_atom()) return true;
  const Interval whole = range(polynomial);
  if (whole.finite()) return whole.fits_64_bits();
  // The rule of wrapping.h: the part with known ranges must leave room, and the rest is small if its factors are.
  Interval known_part = Interval::point(polynomial.constant);
  Int128 factors = 0;
  for (const Term& term : polynomial.terms) {
    const Interval part = scaled(range_of(term.product), term.coefficient);
    if (part.finite()) {
      known_part = known_part + part;
    } else {
      factors += largest_factor(term);
    }
  }
  return factors <= kSmall && known_part.lo >= -kRoom && known_part.hi <= kRoom;
}

// Returns by how much the term multiplies those of its factors whose ranges are not known.
Int128 Facts::largest_factor(const Term& term) const {
  Int128 largest = term.coefficient < 0 ? -Int128{term.coefficient} : Int128{term.coefficient};
  for (std::size_t i = 0; i < term.product.degree && largest <= kSmall; ++i) {
    const Interval factor = range(term.product.factors[i]);
    if (factor.finite()) {
      largest *= std::max<Int128>(1, factor.magnitude());
    } else if (is_far(factor)) {
      return kInfinity;
    }
  }
  return std::min(largest, kSmall + 1);
}

bool Facts::is_data(const Expr& var) {
  const AtomId atom = atoms.variable(var);
  if (atom == 0) return true;
  const Interval now = range(atom);
  return now.finite() && is_far(now);
}

Interval Facts::value_range(const Polynomial& polynomial) const {
  return is_exact(polynomial) ? range(polynomial) : Interval::of(DType::i64);
}

Interval Facts::range(AtomId atom) const {
  if (ranges_.size() <= atom) ranges_.resize(atoms.size());
  if (ranges_[atom].generation == generation_) return ranges_[atom].range;
  Interval result = atom_range(atom);
  if (atom < known_.size()) {
    const Interval narrowed = intersection(result, known_[atom].range);
    if (narrowed.lo <= narrowed.hi) result = narrowed;
  }
  if (is_far(result) && !result.finite()) result = intersection(result, Interval::of(DType::i64));
  // atom_range() may have enlarged ranges_, so the element is looked up again.
  ranges_[atom] = {generation_, result};
  return result;
}

Interval Facts::atom_range(AtomId id) const {
  const Atom& atom = atoms[id];
  switch (atom.kind) {
    case AtomKind::variable: return {};
    case AtomKind::lane: return {0, Int128{atom.expr.type().lanes} - 1};
    case AtomKind::quotient: return floor_div(value_range(atom.left), value_range(atom.right));
    case AtomKind::remainder: return floor_mod(value_range(atom.left), value_range(atom.right));
    case AtomKind::minimum: return min_of(value_range(atom.left), value_range(atom.right));
    case AtomKind::maximum: return max_of(value_range(atom.left), value_range(atom.right));
    case AtomKind::choice: return hull(value_range(atom.left), value_range(atom.right));
    case AtomKind::opaque: break;
  }
  if (const auto* cast = atom.expr.as<Cast>(); cast != nullptr && !cast->value.type().is_float()) {
    const Interval source = Interval::of(cast->value.type().code);
    if (source.fits_64_bits()) return source;
  }
  if (const auto* binary = atom.expr.as<Binary>(); binary != nullptr && binary->op == BinaryOp::bit_and) {
    for (const Expr& side : {binary->left, binary->right}) {
      if (const std::int64_t* mask = as_int(side); mask != nullptr && *mask >= 0) return {0, *mask};
    }
  }
  return Interval::of(DType::i64);
}

std::uint32_t Facts::level(AtomId id) const {
  const Atom& atom = atoms[id];
  std::uint32_t highest = id < known_.size() ? known_[id].level * 2 : 0;
  for (const Polynomial* part : {&atom.left, &atom.right}) {
    for (const Term& term : part->terms) {
      for (std::size_t i = 0; i < term.product.degree; ++i)
        highest = std::max(highest, level(term.product.factors[i]) | 1);
    }
  }
  return highest;
}

}  // namespace ferry::analysis
