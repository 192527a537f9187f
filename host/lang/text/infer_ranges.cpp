#include "host/lang/text/infer_ranges.h"

#include "crosscompile/ir/substitute.h"
#include "host/lang/names.h"
#include "host/lang/stages.h"

#include <algorithm>

namespace ferry::lang {

RangeInference::RangeInference(const Scope& scope, const StatementSyntax& statement, const ExpressionBuilder& built,
                               std::vector<Use> uses, Algebra& algebra)
    : scope_(scope),
      statement_(statement),
      built_(built),
      uses_(std::move(uses)),
      algebra_(algebra),
      bounds_(algebra, [this](const Expr& variable) { return data_.contains(variable.get()); }) {
  for (const auto& [name, size] : scope.sizes) algebra_.set_non_negative(size);
  for (const auto& [name, scalar] : scope.scalars) data_.insert(scalar.get());
  for (const auto& [name, tensor] : scope.tensors) {
    for (const Expr& extent : tensor.shape()) is_size(extent);
  }
  for (const Index& index : built.indices()) bounds_.add_index(index.var);
}

void RangeInference::is_size(const Expr& extent) {
  for (const Expr& variable : ir::free_vars(extent)) data_.erase(variable.get());
}

void RangeInference::run() {
  explicit_ranges();
  while (bounds_.ranges() < built_.indices().size()) {
    if (round(false) || round(true)) continue;
    for (const Index& index : built_.indices()) {
      if (bounds_.range(index.var) == nullptr) no_range(index);
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
    if (bounds_.range(index->var) != nullptr) {
      throw scope_.source->error(range.index.offset,
                                 "expected one range for each index, got another for '" + name + "'");
    }
    const auto bound = [&](const Syntax& syntax) {
      return scope_.source->at(syntax.offset, [&] {
        const Expr end = size_expression(scope_, syntax, "a range");
        is_size(end);
        return algebra_.of(end);
      });
    };
    bounds_.set(index->var, {bound(range.begin), bound(range.end)});
  }
}

// Infers the ranges that follow from uses in which all other indices are known.
bool RangeInference::round(bool with_guarded) {
  std::vector<std::pair<Expr, IndexRange>> found;
  for (const Index& index : built_.indices()) {
    if (bounds_.range(index.var) != nullptr) continue;
    // Uses in which the index stands alone take precedence; combined uses count only when there are none. So a window's
    // size comes from the filter, and an image too small for it is an error, not a smaller window.
    std::optional<IndexRange> range = range_from_uses(index.var, with_guarded, true);
    if (!range) range = range_from_uses(index.var, with_guarded, false);
    if (range) found.emplace_back(index.var, std::move(*range));
  }
  for (auto& [index, range] : found) bounds_.set(index, std::move(range));
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
      const std::optional<Interval> solved = bounds_.intervals().solve(algebra_.of(place), index, {}, last);
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

std::string RangeInference::described(const Use& use, std::size_t dimension) const {
  if (use.syntax == nullptr) {
    return "'" + std::string(statement_.target.text) + "' is written at " +
           std::string(text_at(statement_.left[dimension]));
  }
  return "'" + std::string(use.syntax->text) + "' is read at " + std::string(text_at(use.syntax->parts[dimension]));
}

bool RangeInference::check_dimension(const Use& use, std::size_t dimension) {
  const auto& load = *use.load.as<ir::Load>();
  // Data-dependent indices are checked by the stage that computes them.
  if (!loads_of(load.indices[dimension]).empty()) return false;
  const IndexBounds::Verdict verdict = bounds_.check(load, dimension, use.guards, described(use, dimension));
  switch (verdict.kind) {
    case IndexBounds::Kind::safe: return true;
    case IndexBounds::Kind::guarded: break;
    case IndexBounds::Kind::unchecked: unchecked_.push_back({use.load, dimension}); break;
    case IndexBounds::Kind::required: {
      const bool known = std::any_of(requirements_.begin(), requirements_.end(), [&](const ir::Requirement& other) {
        return ir::equal(other.condition, verdict.condition);
      });
      if (!known) requirements_.push_back({verdict.condition, verdict.text});
      break;
    }
    case IndexBounds::Kind::outside: {
      const std::size_t offset =
          use.syntax == nullptr ? statement_.left[dimension].begin : use.syntax->parts[dimension].begin;
      throw scope_.source->error(offset, verdict.text);
    }
  }
  return false;
}

}  // namespace ferry::lang
