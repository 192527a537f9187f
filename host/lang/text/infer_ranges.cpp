#include "host/lang/text/infer_ranges.h"

#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "host/lang/expression_size.h"
#include "host/lang/names.h"
#include "host/lang/stages.h"

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

}  // namespace

RangeInference::RangeInference(const Scope& scope, const StatementSyntax& statement, const ExpressionBuilder& built,
                               std::vector<Use> uses, Algebra& algebra)
    : scope_(scope),
      statement_(statement),
      built_(built),
      uses_(std::move(uses)),
      algebra_(algebra),
      intervals_(algebra) {
  for (const auto& [name, size] : scope.sizes) algebra_.set_non_negative(size);
  for (const Index& index : built.indices()) intervals_.add_index(index.var);
}

void RangeInference::run() {
  explicit_ranges();
  while (ranges_.size() < built_.indices().size()) {
    if (round(false) || round(true)) continue;
    for (const Index& index : built_.indices()) {
      if (!ranges_.contains(index.var.get())) no_range(index);
    }
  }
  for (const Use& use : uses_) check(use);
}

void RangeInference::explicit_ranges() {
  for (const RangeSyntax& range : statement_.ranges) {
    const auto index = std::find_if(built_.indices().begin(), built_.indices().end(),
                                    [&](const Index& i) { return i.name.text == range.index.text; });
    const std::string name(range.index.text);
    if (index == built_.indices().end()) {
      std::vector<std::string> known;
      for (const Index& i : built_.indices()) known.emplace_back(i.name.text);
      throw scope_.source->error(range.index.offset,
                                 "'" + name + "' is not an index of this statement" + suggestion(name, known));
    }
    if (ranges_.contains(index->var.get())) {
      throw scope_.source->error(range.index.offset,
                                 "expected one range for each index, got another for '" + name + "'");
    }
    const auto bound = [&](const Syntax& syntax) {
      return scope_.source->at(syntax.offset, [&] { return algebra_.of(size_expression(scope_, syntax, "a range")); });
    };
    set(index->var, {bound(range.begin), bound(range.end)});
  }
}

void RangeInference::set(const Expr& index, IndexRange range) {
  // An empty range is allowed here; it reads nothing.
  if (algebra_.proves_non_negative(range.begin)) algebra_.set_non_negative(index);
  intervals_.set(index, {range.begin, algebra_.subtract(range.end, Algebra::number(1))});
  ranges_.emplace(index.get(), std::move(range));
}

bool RangeInference::is_guarded(const Use& use, const Expr& index) const {
  for (const Expr& guard : use.guards) {
    for (const Expr& variable : ir::free_vars(index)) {
      if (ir::uses_var(guard, variable) && std::any_of(built_.indices().begin(), built_.indices().end(),
                                                       [&](const Index& i) { return i.var.same_as(variable); })) {
        return true;
      }
    }
  }
  return false;
}

// Infers the ranges that follow from uses in which all other indices are known.
bool RangeInference::round(bool with_guarded) {
  std::vector<std::pair<Expr, IndexRange>> found;
  for (const Index& index : built_.indices()) {
    if (ranges_.contains(index.var.get())) continue;
    // Uses in which the index stands alone take precedence; combined uses count only when there are none. So a window's
    // size comes from the filter, and an image too small for it is an error, not a smaller window.
    std::optional<IndexRange> range = range_from_uses(index.var, with_guarded, true);
    if (!range) range = range_from_uses(index.var, with_guarded, false);
    if (range) found.emplace_back(index.var, std::move(*range));
  }
  for (auto& [index, range] : found) set(index, std::move(range));
  return !found.empty();
}

std::optional<IndexRange> RangeInference::range_from_uses(const Expr& index, bool with_guarded, bool alone) {
  const Polynomial one = Algebra::number(1);
  std::optional<IndexRange> range;
  for (const Use& use : uses_) {
    const auto& load = *use.load.as<ir::Load>();
    for (std::size_t i = 0; i < load.indices.size(); ++i) {
      const Expr& place = load.indices[i];
      if (!ir::uses_var(place, index) || (alone && count_indices(place) > 1)) continue;
      if (!with_guarded && is_guarded(use, place)) continue;
      const Polynomial last = algebra_.subtract(algebra_.of(load.buffer->shape[i]), one);
      const std::optional<Interval> solved = intervals_.solve(algebra_.of(place), index, {}, last);
      if (!solved) continue;
      const Polynomial end = algebra_.add(solved->high, one);
      range = IndexRange{algebra_.larger(range ? range->begin : Polynomial(), solved->low),
                         range ? algebra_.smaller(range->end, end) : end};
    }
  }
  return range;
}

std::size_t RangeInference::count_indices(const Expr& place) const {
  return static_cast<std::size_t>(std::count_if(built_.indices().begin(), built_.indices().end(),
                                                [&](const Index& index) { return ir::uses_var(place, index.var); }));
}

void RangeInference::no_range(const Index& index) const {
  const std::string name(index.name.text);
  throw scope_.source->error(index.name.offset, "expected a range for the index '" + name + "', as in 'where " + name +
                                                    " in 0:N', since no use tells how far it runs" +
                                                    suggestion(name, scope_.names()));
}

void RangeInference::check(const Use& use) {
  bool safe = true;
  for (std::size_t i = 0; i < use.load.as<ir::Load>()->indices.size(); ++i) safe = check_dimension(use, i) && safe;
  if (safe) safe_loads_.insert(use.load.get());
}

std::string_view RangeInference::text_at(const Syntax& syntax) const {
  return scope_.source->text().substr(syntax.begin, syntax.end - syntax.begin);
}

bool RangeInference::is_less(const Expr& index, const Expr& than) {
  try {
    const auto difference =
        algebra_.subtract(algebra_.subtract(algebra_.of(than), algebra_.of(index)), Algebra::number(1));
    const std::optional<Interval> range = intervals_.of(difference);
    return range && algebra_.proves_non_negative(range->low);
  } catch (const CompileError&) {
    return false;  // as in bounds_of
  }
}

std::string RangeInference::described(const Use& use, std::size_t dimension) const {
  if (use.syntax == nullptr) {
    return "'" + std::string(statement_.target.text) + "' is written at " +
           std::string(text_at(statement_.left[dimension]));
  }
  return "'" + std::string(use.syntax->text) + "' is read at " + std::string(text_at(use.syntax->parts[dimension]));
}

std::optional<Interval> RangeInference::bounds_of(const Expr& index) {
  try {
    return intervals_.of(index);
  } catch (const CompileError&) {
    return std::nullopt;  // beyond the limits of polynomials
  }
}

bool RangeInference::guards_suffice(const Use& use, std::size_t dimension) {
  const auto& load = *use.load.as<ir::Load>();
  constexpr int kSteps = 3;
  try {
    const Polynomial index = algebra_.of(load.indices[dimension]);
    const Polynomial last = algebra_.subtract(algebra_.of(load.buffer->shape[dimension]), Algebra::number(1));
    const std::vector<Polynomial> facts = guard_facts(use.guards, algebra_);
    return follows(index, facts, kSteps) && follows(algebra_.subtract(last, index), facts, kSteps);
  } catch (const CompileError&) {
    return false;  // as in bounds_of
  }
}

// Whether `value` >= 0 follows from the facts, which are all non-negative: it is a fact plus something that is never
// negative, or contains a quotient for whose numerator the same follows.
bool RangeInference::follows(const Polynomial& value, const std::vector<Polynomial>& facts, int steps) {
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

bool RangeInference::holds_with_elements(const Polynomial& above, const Expr& extent) {
  if (extent.as<ir::Var>() == nullptr) return false;
  const Expr less = ir::Var::make(extent.as<ir::Var>()->name);
  algebra_.set_non_negative(less);
  const Expr raised = ir::substitute(algebra_.to_expr(above), ir::Substitution{{extent.get(), less + 1}});
  return algebra_.proves_non_negative(algebra_.of(raised));
}

bool RangeInference::check_dimension(const Use& use, std::size_t dimension) {
  const auto& load = *use.load.as<ir::Load>();
  const Expr& index = load.indices[dimension];
  // Data-dependent indices are checked by the stage that computes them.
  if (!loads_of(index).empty()) return false;
  const auto check_later = [&] {
    unchecked_.push_back({use.load, dimension});
    return false;
  };
  const std::optional<Interval> range = bounds_of(index);
  if (!range) return guards_suffice(use, dimension) ? false : check_later();
  const Polynomial last = algebra_.subtract(algebra_.of(load.buffer->shape[dimension]), Algebra::number(1));
  const Polynomial above = algebra_.subtract(last, range->high);
  const bool low_holds = algebra_.proves_non_negative(range->low);
  const bool high_holds = algebra_.proves_non_negative(above);
  if (low_holds && high_holds) return true;
  if (is_guarded(use, index)) return guards_suffice(use, dimension) ? false : check_later();
  // A bound that is too wide must not reject an index that stays in bounds.
  const bool exact = range->exact || (low_holds && holds_with_elements(above, load.buffer->shape[dimension]));
  if (!exact) return check_later();

  const std::string size = ir::to_text(load.buffer->shape[dimension]);
  const std::string low = ir::to_text(algebra_.to_expr(range->low)), high = ir::to_text(algebra_.to_expr(range->high));
  const std::string text =
      described(use, dimension) + ", which runs from " + low + " to " + high + ": expected it to stay within 0:" + size;
  const auto certainly_negative = [](const Polynomial& value) { return value.is_constant() && value.constant < 0; };
  if (certainly_negative(range->low) || certainly_negative(above)) {
    const std::size_t offset =
        use.syntax == nullptr ? statement_.left[dimension].begin : use.syntax->parts[dimension].begin;
    throw scope_.source->error(offset, text);
  }
  Expr condition = ir::constant(ir::kBool, std::int64_t{1});
  if (!low_holds) condition = algebra_.to_expr(range->low) >= 0;
  if (!high_holds) condition = condition && algebra_.to_expr(range->high) < load.buffer->shape[dimension];
  // Nothing is read where an index has an empty range.
  std::vector<Expr> variables = ir::free_vars(index);
  std::erase_if(variables, [&](const Expr& variable) { return !ranges_.contains(variable.get()); });
  if (variables.empty())
    for (const Index& any : built_.indices()) variables.push_back(any.var);
  for (const Expr& variable : variables) {
    const auto found = ranges_.find(variable.get());
    const Polynomial extent = algebra_.subtract(found->second.end, found->second.begin);
    if (algebra_.proves_non_negative(algebra_.subtract(extent, Algebra::number(1)))) continue;
    condition = algebra_.to_expr(extent) <= 0 || condition;
  }
  if (!InstructionCounter(condition).fits()) return check_later();
  const bool known = std::any_of(requirements_.begin(), requirements_.end(),
                                 [&](const ir::Requirement& r) { return ir::equal(r.condition, condition); });
  if (!known) requirements_.push_back({condition, text});
  return false;
}

}  // namespace ferry::lang
