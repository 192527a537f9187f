#include "host/lang/index_bounds.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "host/lang/expression_size.h"

#include <algorithm>
#include <cstdlib>

namespace ferry::lang {
namespace {

// Slightly below the limit on instructions of a manifest expression.
constexpr std::size_t kMaxInstructions = 240;

// Estimates the number of manifest instructions that the condition needs.
class InstructionCounter : public ir::Visitor {
 public:
  explicit InstructionCounter(const Expr& condition) {
    count_ = ExpressionSize().operations(condition);
    visit(condition);
  }
  bool fits() const { return count_ <= kMaxInstructions; }

 protected:
  using Visitor::visit_node;
  void visit_node(const ir::Binary& node) override {
    // A divisor that may be 0 is compared with 0, twice.
    const bool divides = node.op == ir::BinaryOp::div || node.op == ir::BinaryOp::mod;
    if (divides && ir::as_int(node.right) == nullptr) count_ += 6 + 2 * ExpressionSize().operations(node.right);
    Visitor::visit_node(node);
  }

 private:
  std::size_t count_ = 0;
};

// Replaces quotients and remainders of sizes by variables. The algebra takes such a quotient for a number, whatever it
// is made of, and the requirement computes it, in arithmetic that does not wrap.
class WithoutQuotients : public ir::Mutator {
 public:
  explicit WithoutQuotients(const std::vector<Expr>& indices) : indices_(indices) {}
  std::vector<Expr> quotients;

 protected:
  using Mutator::mutate_node;
  Expr mutate_node(const ir::Binary& node, const Expr& self) override {
    const bool divides = node.op == ir::BinaryOp::div || node.op == ir::BinaryOp::mod;
    const bool is_number =
        divides && ir::as_int(node.right) == nullptr && node.type == ir::kIndex &&
        std::none_of(indices_.begin(), indices_.end(), [&](const Expr& index) { return ir::uses_var(self, index); });
    if (!is_number) return Mutator::mutate_node(node, self);
    quotients.push_back(ir::Var::make("quotient"));
    return quotients.back();
  }

 private:
  const std::vector<Expr>& indices_;
};

// Says what values an index has, unless that takes more words than the reader can follow.
std::string range_text(const Expr& low, const Expr& high) {
  constexpr std::size_t kMostCharacters = 80;
  const std::string text = ", which runs from " + ir::to_text(low) + " to " + ir::to_text(high);
  return text.size() <= kMostCharacters ? text : "";
}

}  // namespace

IndexBounds::IndexBounds(Algebra& algebra, analysis::IsData is_data)
    : algebra_(algebra), is_data_(std::move(is_data)), intervals_(algebra) {}

void IndexBounds::add_index(const Expr& index) {
  indices_.push_back(index);
  intervals_.add_index(index);
}

void IndexBounds::set(const Expr& index, IndexRange range) {
  // An empty range is allowed here; it reads nothing.
  if (algebra_.proves_non_negative(range.begin)) algebra_.set_non_negative(index);
  // Where an element is read, no range is empty: a size that ends one is positive there, whatever argument it is.
  const bool starts_at_zero = range.begin == Algebra::number(0);
  if (starts_at_zero && range.end.is_atom() && algebra_.atom(range.end.terms[0].product.factors[0]).as<ir::Var>())
    algebra_.set_non_negative(algebra_.atom(range.end.terms[0].product.factors[0]));
  intervals_.set(index, {range.begin, algebra_.subtract(range.end, Algebra::number(1))});
  ranges_.emplace(index.get(), std::move(range));
}

const IndexRange* IndexBounds::range(const Expr& index) const {
  const auto found = ranges_.find(index.get());
  return found == ranges_.end() ? nullptr : &found->second;
}

bool IndexBounds::is_guarded(const std::vector<Expr>& guards, const Expr& index) const {
  const std::vector<Expr> variables = ir::free_vars(index);
  const auto names = [&](const Expr& guard) {
    return std::any_of(variables.begin(), variables.end(), [&](const Expr& variable) {
      return ir::uses_var(guard, variable) &&
             std::any_of(indices_.begin(), indices_.end(), [&](const Expr& any) { return any.same_as(variable); });
    });
  };
  return std::any_of(guards.begin(), guards.end(), names);
}

bool IndexBounds::wraps_inside(const Expr& index) const {
  WithoutQuotients without(indices_);
  const Expr plain = without.mutate(index);
  return analysis::wraps_inside(plain, [&](const Expr& variable) {
    return is_data_(variable) || std::any_of(without.quotients.begin(), without.quotients.end(),
                                             [&](const Expr& quotient) { return quotient.same_as(variable); });
  });
}

bool IndexBounds::is_less(const Expr& index, const Expr& than) {
  if (analysis::may_wrap(index) || wraps_inside(index)) return false;
  try {
    const auto difference =
        algebra_.subtract(algebra_.subtract(algebra_.of(than), algebra_.of(index)), Algebra::number(1));
    const std::optional<Interval> range = intervals_.of(difference);
    return range && algebra_.proves_non_negative(range->low);
  } catch (const CompileError&) {
    return false;  // as in bounds_of
  }
}

// Returns nothing when the index has no bounds, or none that polynomials of a reasonable size express. The bounds of a
// sum are those of integers of any size, which is what it must stay within; but what a quotient or a minimum makes of a
// sum that wraps, nobody knows.
std::optional<Interval> IndexBounds::bounds_of(const Expr& index) {
  if (wraps_inside(index)) return std::nullopt;
  try {
    return intervals_.of(index);
  } catch (const CompileError&) {
    return std::nullopt;  // beyond the limits of polynomials
  }
}

// Returns the index as polynomials of which each is its value: of its parts where these do not wrap, and of the wrapped
// values that conditions compare.
std::vector<Polynomial> IndexBounds::values_of(const Expr& index, const GuardFacts& facts) {
  std::vector<Polynomial> values;
  if (!wraps_inside(index)) values.push_back(algebra_.of(index));
  for (const GuardFacts::Wrapped& wrapped : facts.wrapped) {
    if (ir::equal(wrapped.side, index)) {
      values.push_back(algebra_.of(wrapped.value));
    } else if (!values.empty() && !wraps_inside(wrapped.side)) {
      const Polynomial rest = algebra_.subtract(values.front(), algebra_.of(wrapped.side));
      if (constant_of(rest)) values.push_back(algebra_.add(algebra_.of(wrapped.value), rest));
    }
  }
  return values;
}

bool IndexBounds::guards_suffice(const ir::Load& load, std::size_t dimension, const std::vector<Expr>& guards) {
  constexpr int kSteps = 3;
  try {
    const Polynomial last = algebra_.subtract(algebra_.of(load.buffer->shape[dimension]), Algebra::number(1));
    const GuardFacts known = guard_facts(guards, algebra_, is_data_);
    const std::vector<Polynomial> values = values_of(load.indices[dimension], known);
    return std::any_of(values.begin(), values.end(), [&](const Polynomial& value) {
      return follows(value, known.facts, kSteps) && follows(algebra_.subtract(last, value), known.facts, kSteps);
    });
  } catch (const CompileError&) {
    return false;  // as in bounds_of
  }
}

// Whether `value` >= 0 follows from the facts, which are all non-negative: it is a fact plus something that is never
// negative, or contains a quotient for whose numerator the same follows.
bool IndexBounds::follows(const Polynomial& value, const std::vector<Polynomial>& facts, int steps) {
  const auto never_negative = [&](const Polynomial& polynomial) {
    const std::optional<Interval> range = intervals_.of(polynomial);
    return range && algebra_.proves_non_negative(range->low);
  };
  if (never_negative(value)) return true;
  for (const Polynomial& fact : facts) {
    if (never_negative(algebra_.subtract(value, fact))) return true;
  }
  if (steps == 0) return false;
  for (const analysis::Term& term : value.terms) {
    if (!term.product.is_atom() || std::abs(term.coefficient) != 1) continue;
    const ir::Expr atom = algebra_.atom(term.product.factors[0]);
    const auto* division = atom.as<ir::Binary>();
    if (division == nullptr || division->op != ir::BinaryOp::div) continue;
    const Polynomial by = algebra_.of(division->right);
    const Polynomial one = Algebra::number(1);
    if (!algebra_.proves_non_negative(algebra_.subtract(by, one))) continue;
    const Polynomial scaled = algebra_.multiply(without(value, term), by), dividend = algebra_.of(division->left);
    // floor(x / by) + rest >= 0 where x + by * rest >= 0; rest - floor(x / by) >= 0 where by * rest + by - 1 - x >= 0.
    const Polynomial numerator = term.coefficient > 0
                                     ? algebra_.add(dividend, scaled)
                                     : algebra_.subtract(algebra_.add(scaled, algebra_.subtract(by, one)), dividend);
    if (follows(numerator, facts, steps - 1)) return true;
  }
  return false;
}

// `above` is non-negative when the index does not exceed the tensor's upper bound. Returns whether that holds whenever
// the tensor has elements.
bool IndexBounds::holds_with_elements(const Polynomial& above, const Expr& extent) {
  if (extent.as<ir::Var>() == nullptr) return false;
  const Expr less = ir::Var::make(extent.as<ir::Var>()->name);
  algebra_.set_non_negative(less);
  const Expr raised = ir::substitute(algebra_.to_expr(above), ir::Substitution{{extent.get(), less + 1}});
  return algebra_.proves_non_negative(algebra_.of(raised));
}

// Nothing is read where an index has an empty range.
Expr IndexBounds::unless_empty(Expr condition, const Expr& index) {
  std::vector<Expr> variables = ir::free_vars(index);
  std::erase_if(variables, [&](const Expr& variable) { return range(variable) == nullptr; });
  if (variables.empty()) variables = indices_;
  for (const Expr& variable : variables) {
    const IndexRange& of = *range(variable);
    const Polynomial extent = algebra_.subtract(of.end, of.begin);
    if (algebra_.proves_non_negative(algebra_.subtract(extent, Algebra::number(1)))) continue;
    condition = algebra_.to_expr(extent) <= 0 || condition;
  }
  return condition;
}

IndexBounds::Verdict IndexBounds::check(const ir::Load& load, std::size_t dimension, const std::vector<Expr>& guards,
                                        const std::string& use) {
  std::optional<Verdict> verdict;
  try {
    const Expr& index = load.indices[dimension];
    const std::optional<Interval> range = bounds_of(index);
    if (range) verdict = judge(index, *range, load.buffer->shape[dimension], is_guarded(guards, index), use);
  } catch (const CompileError&) {
    verdict.reset();  // as in bounds_of
  }
  return verdict ? *verdict : Verdict{guards_suffice(load, dimension, guards) ? Kind::guarded : Kind::unchecked};
}

// Returns nothing when the guards decide.
std::optional<IndexBounds::Verdict> IndexBounds::judge(const Expr& index, const Interval& range, const Expr& size,
                                                       bool has_guards, const std::string& use) {
  const Polynomial last = algebra_.subtract(algebra_.of(size), Algebra::number(1));
  const Polynomial above = algebra_.subtract(last, range.high);
  const bool low_holds = algebra_.proves_non_negative(range.low);
  const bool high_holds = algebra_.proves_non_negative(above);
  if (low_holds && high_holds) return Verdict{};
  if (has_guards) return std::nullopt;
  // A bound that is too wide must not reject an index that stays in bounds.
  const bool exact = range.exact || (low_holds && holds_with_elements(above, size));
  if (!exact) return Verdict{Kind::unchecked};

  const Expr low = algebra_.to_expr(range.low), high = algebra_.to_expr(range.high);
  const std::string text = use + range_text(low, high) + ": expected it to stay within 0:" + ir::to_text(size);
  const auto certainly_negative = [](const Polynomial& value) { return value.is_constant() && value.constant < 0; };
  if (certainly_negative(range.low) || certainly_negative(above)) return Verdict{Kind::outside, {}, text};
  Expr condition = ir::constant(ir::kBool, std::int64_t{1});
  if (!low_holds) condition = low >= 0;
  if (!high_holds) condition = condition && high < size;
  condition = unless_empty(std::move(condition), index);
  if (!InstructionCounter(condition).fits()) return Verdict{Kind::unchecked};
  return Verdict{Kind::required, std::move(condition), text};
}

}  // namespace ferry::lang
