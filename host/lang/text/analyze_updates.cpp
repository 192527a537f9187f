#include "host/lang/text/analyze_updates.h"

#include "host/lang/names.h"
#include "host/lang/sequence.h"
#include "host/lang/text/assign.h"
#include "host/lang/text/build_expression.h"
#include "host/lang/text/guards.h"
#include "host/lang/text/infer_ranges.h"

#include <algorithm>
#include <optional>

namespace ferry::lang {
namespace {

class UpdateAnalysis {
 public:
  UpdateAnalysis(const Scope& scope, const StatementSyntax& statement)
      : scope_(scope),
        statement_(statement),
        along_(*statement.along),
        target_(statement.target.text),
        builder_(scope, true) {}

  StatementResult run(const std::string& name) {
    const Tensor before = updated_tensor();
    const Tensor self = self_tensor(before.shape(), before.dtype(), name);
    builder_.set_self(statement_.target.text, self);
    const Expr current = self.at(place());
    Expr value = ir::cast(before.dtype(), builder_.build(statement_.value, before.dtype()));
    check_combined(*scope_.source, statement_, value);
    std::vector<Use> uses = builder_.uses();
    for (const Use& use : uses)
      if (use.load.as<ir::Load>()->buffer == self.buffer())
        throw error(use.syntax->offset, "expected updates that do not read '" + target_ + "', which they change");
    uses.push_back({current, nullptr, {}});
    RangeInference ranges(scope_, statement_, builder_, std::move(uses), algebra_);
    ranges.run();
    std::vector<ir::Axis> axes;
    std::optional<std::size_t> along;
    for (const Index& index : builder_.indices()) {
      const IndexRange& range = ranges.of(index.var);
      if (index.name.text == along_.text) along = axes.size();
      if (constant_of(range.begin) != 0)
        throw error(index.name.offset, "expected the range of '" + std::string(index.name.text) +
                                           "', which numbers updates, to start at 0, got " + bound_text(range.begin));
      axes.push_back({index.var, Expr(0), algebra_.to_expr(range.end)});
    }
    if (!along)
      throw error(along_.offset, "expected an index of the statement after 'along', got '" + std::string(along_.text) +
                                     "', which it does not use");
    value = without_needless_guards(value, ranges.safe_loads());
    value = ir::cast(before.dtype(), combine(statement_.assign, current, value));
    const Tensor result = scatter_over(before, std::move(axes), current.as<ir::Load>()->indices, std::move(value),
                                       *along, self, name, ranges.unchecked(), IndexChecks::caller);
    return {{result}, ranges.requirements(), {}};
  }

 private:
  CompileError error(std::size_t offset, const std::string& message) const {
    return scope_.source->error(offset, message);
  }

  Tensor updated_tensor() const {
    const std::string op = text_of(statement_.assign);
    if (finds_place(statement_.assign))
      throw error(statement_.assign_offset, "expected '=', '+=', '*=', 'min=' or 'max=' for updates along '" +
                                                std::string(along_.text) + "', got '" + op + "!'");
    const auto found = scope_.tensors.find(statement_.target.text);
    if (found == scope_.tensors.end())
      throw error(statement_.target.offset, "expected a tensor that has values before it is updated along '" +
                                                std::string(along_.text) + "', got the new name '" + target_ + "'");
    const Tensor& before = found->second;
    if (before.rank() != statement_.left.size())
      throw error(statement_.target.offset, "'" + target_ + "': expected " +
                                                counted(before.rank(), "index", "indices") + ", got " +
                                                std::to_string(statement_.left.size()));
    if (before.rank() == 0)
      throw error(statement_.target.offset, "expected a tensor with dimensions to update along '" +
                                                std::string(along_.text) + "', got '" + target_ +
                                                "', which is a single number");
    if (statement_.initialise)
      throw error(statement_.assign_offset, "expected '" + op + "', got '" + op + "!': '" + target_ +
                                                "' keeps the elements that are not updated");
    if (scope_.has(along_.text))
      throw error(along_.offset, "expected an index after 'along', got '" + std::string(along_.text) +
                                     "', which has a meaning already");
    return before;
  }

  std::vector<Expr> place() {
    std::vector<Expr> place;
    for (const Syntax& index : statement_.left) {
      place.push_back(builder_.build(index, DType::i64));
      if (!place.back().type().is_int())
        throw error(index.begin,
                    "expected an integer as an index of '" + target_ + "', got " + ir::to_text(place.back().type()));
    }
    return place;
  }

  const Scope& scope_;
  const StatementSyntax& statement_;
  const Name& along_;
  std::string target_;
  ExpressionBuilder builder_;
  Algebra algebra_;
};

}  // namespace

bool is_scatter(const StatementSyntax& statement) {
  return statement.along && std::none_of(statement.indices.begin(), statement.indices.end(),
                                         [&](const Name& index) { return index.text == statement.along->text; });
}

StatementResult analyze_updates(const Scope& scope, const StatementSyntax& statement, const std::string& name) {
  return UpdateAnalysis(scope, statement).run(name);
}

}  // namespace ferry::lang
