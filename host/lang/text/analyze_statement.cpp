#include "host/lang/text/analyze_statement.h"

#include "crosscompile/ir/mutator.h"
#include "ferry/lang/user_reducer.h"
#include "host/lang/names.h"
#include "host/lang/sequence.h"
#include "host/lang/stages.h"
#include "host/lang/text/analyze_updates.h"
#include "host/lang/text/assign.h"
#include "host/lang/text/guards.h"
#include "host/lang/text/infer_ranges.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>

namespace ferry::lang {
namespace {

bool is_at(const ir::Load& load, const std::vector<Expr>& indices) {
  return std::equal(load.indices.begin(), load.indices.end(), indices.begin(), indices.end(),
                    [](const Expr& a, const Expr& b) { return a.same_as(b); });
}

// Replaces elements of a tensor at these indices by one expression.
class ReplaceElement : public ir::Mutator {
 public:
  ReplaceElement(const ir::Buffer* tensor, const std::vector<Expr>& at, Expr by)
      : tensor_(tensor), at_(at), by_(std::move(by)) {}

 protected:
  using Mutator::mutate_node;
  Expr mutate_node(const ir::Load& node, const Expr& self) override {
    const bool same = node.buffer.get() == tensor_ && is_at(node, at_);
    return same ? by_ : Mutator::mutate_node(node, self);
  }

 private:
  const ir::Buffer* tensor_;
  const std::vector<Expr>& at_;
  Expr by_;
};

class StatementAnalysis {
 public:
  StatementAnalysis(const Scope& scope, const StatementSyntax& statement)
      : scope_(scope), statement_(statement), builder_(scope, true) {}

  StatementResult run(const std::vector<std::string>& names) {
    if (statement_.along && finds_place(statement_.assign))
      throw error(statement_.along->offset, "expected no 'along' after '" + std::string(text_of(statement_.assign)) +
                                                "!', which combines elements in any order");
    left_side();
    const bool fixed_type = earlier_.buffer() != nullptr;
    if (statement_.along) make_self(names.back());
    Expr value = fixed_type ? builder_.build(statement_.value, earlier_.dtype()) : builder_.build(statement_.value);
    if (fixed_type) value = ir::cast(earlier_.dtype(), value);
    check_reduction(value);
    RangeInference ranges(scope_, statement_, builder_, deciding_uses(), algebra_);
    ranges.run();
    if (self_ != nullptr && !fixed_type) {
      self_->shape.clear();
      for (const ir::Axis& axis : target_axes(ranges)) self_->shape.push_back(axis.extent);
      for (const Use& use : builder_.uses())
        if (reads_self(use)) ranges.check(use);
    }
    value = without_needless_guards(value, ranges.safe_loads());
    if (self_ != nullptr) value = in_sequence(ranges, value);
    std::vector<ir::Axis> axes = target_axes(ranges);
    if (self_ != nullptr) {
      const Tensor result = recurrence(std::move(axes), assemble(ranges, ir::cast(self_->dtype, value)), *along_,
                                       Tensor(self_), names.back(), ranges.unchecked(), IndexChecks::caller);
      return {{result}, ranges.requirements(), {}};
    }
    std::vector<Expr> values{finds_place(statement_.assign) ? value : assemble(ranges, value)};
    if (finds_place(statement_.assign)) values = find_place(ranges, value);
    return {compute_over(std::move(axes), std::move(values), names.back(), names, ranges.unchecked()),
            ranges.requirements(), warnings()};
  }

 private:
  std::size_t target_rank() const { return statement_.indices.size(); }
  bool reduces() const { return builder_.indices().size() > target_rank(); }

  CompileError error(std::size_t offset, const std::string& message) const {
    return scope_.source->error(offset, message);
  }

  std::string target_text() const { return std::string(statement_.target.text); }

  bool reads_self(const Use& use) const { return use.load.as<ir::Load>()->buffer == self_; }

  std::vector<Expr> target_point() const {
    std::vector<Expr> at;
    for (std::size_t i = 0; i < target_rank(); ++i) at.push_back(builder_.indices()[i].var);
    return at;
  }

  // Makes the tensor that stands for the statement's own elements. A new tensor has no shape yet: ranges follow from
  // the other tensors. Its type is that of the value, where its own elements take the type of what they meet.
  void make_self(const std::string& name) {
    self_ = std::make_shared<ir::Buffer>();
    self_->name = name;
    self_->scope = ir::Scope::global;
    for (std::size_t i = 0; i < target_rank(); ++i)
      if (statement_.indices[i].text == statement_.along->text) along_ = i;
    if (earlier_.buffer() != nullptr) {
      self_->dtype = earlier_.dtype();
      self_->shape = earlier_.shape();
    } else {
      self_->dtype = type_of_new_self();
      self_->shape.assign(target_rank(), Expr(1));  // until ranges are known
    }
    builder_.set_self(statement_.target.text, Tensor(self_));
  }

  // The type of the value with the statement's own elements as numbers or, if they are none, as bools.
  DType type_of_new_self() const {
    const auto type_with = [&](bool is_bool) {
      ExpressionBuilder probe(scope_, true);
      probe.set_unknown_self(statement_.target.text, is_bool);
      return probe.build(statement_.value).type().code;
    };
    try {
      return type_with(false);
    } catch (const CompileError&) {
      const std::exception_ptr as_number = std::current_exception();
      try {
        return type_with(true);
      } catch (const CompileError&) {
        std::rethrow_exception(as_number);
      }
    }
  }

  // The uses that decide how far indices run.
  std::vector<Use> deciding_uses() const {
    std::vector<Use> uses = builder_.uses();
    if (earlier_.buffer() != nullptr) {
      // The elements that the left side names must exist as well.
      uses.push_back({earlier_.at(target_point()), nullptr, {}});
    } else if (self_ != nullptr) {
      std::erase_if(uses, [&](const Use& use) { return reads_self(use); });
    }
    return uses;
  }

  // Checks that the value reads elements which come earlier in the sequence. An element that exists already may be read
  // as well, as it was before.
  Expr in_sequence(RangeInference& ranges, const Expr& value) {
    const std::vector<Expr> point = target_point();
    for (const Use& use : builder_.uses()) {
      if (!reads_self(use)) continue;
      const auto& load = *use.load.as<ir::Load>();
      if (earlier_.buffer() != nullptr && is_at(load, point)) continue;
      if (ranges.is_less(load.indices[*along_], point[*along_])) continue;
      const std::string along(statement_.along->text);
      throw error(use.syntax->parts[*along_].begin, "expected '" + target_text() +
                                                        "' to be read at an index that is always less than '" + along +
                                                        "', along which it is computed, got '" +
                                                        std::string(ranges.text_at(use.syntax->parts[*along_])) + "'");
    }
    if (earlier_.buffer() == nullptr) return value;
    return ReplaceElement(self_.get(), point, earlier_.at(point)).mutate(value);
  }

  void left_side() {
    for (const Name& index : statement_.indices) {
      const std::string name(index.text);
      if (scope_.has(index.text)) {
        throw error(index.offset, "expected a new name for an index, got '" + name + "', which is " +
                                      (scope_.sizes.contains(index.text) ? "a size" : "a parameter or tensor"));
      }
      const std::size_t before = builder_.indices().size();
      builder_.index(index);
      if (builder_.indices().size() == before)
        throw error(index.offset, "expected different indices, got '" + name + "' twice");
    }
    if (target_rank() > kMaxRank) {
      throw error(statement_.indices[kMaxRank].offset, "expected at most " + std::to_string(kMaxRank) + " dimensions");
    }
    if (finds_place(statement_.assign)) return check_place_targets();
    const auto found = scope_.tensors.find(statement_.target.text);
    if (found != scope_.tensors.end()) {
      earlier_ = found->second;
      if (earlier_.rank() != target_rank()) {
        throw error(statement_.target.offset, "'" + std::string(statement_.target.text) + "': expected " +
                                                  counted(earlier_.rank(), "index", "indices") + ", got " +
                                                  std::to_string(target_rank()));
      }
    } else if (statement_.assign != Assign::set && !statement_.initialise) {
      const std::string op = text_of(statement_.assign);
      throw error(statement_.assign_offset, "expected '" + op + "!', got '" + op + "': '" +
                                                std::string(statement_.target.text) +
                                                "' has no value yet to start from");
    }
  }

  // argmax and argmin cannot continue an earlier result: a position found before is useless without its value.
  void check_place_targets() const {
    const std::string op = text_of(statement_.assign);
    if (!statement_.initialise) throw error(statement_.assign_offset, "expected '" + op + "!', got '" + op + "'");
    for (const Name& target : {statement_.target, statement_.value_target.value_or(statement_.target)}) {
      if (!scope_.tensors.contains(target.text)) continue;
      throw error(target.offset, "expected a new tensor before '" + op + "!', got '" + std::string(target.text) +
                                     "', which has a value already");
    }
    if (statement_.value_target && statement_.value_target->text == statement_.target.text)
      throw error(statement_.target.offset, "expected two different tensors before '" + op + "!'");
  }

  void check_reduction(const Expr& value) const {
    check_combined(*scope_.source, statement_, value);
    if (finds_place(statement_.assign) && !reduces())
      throw error(statement_.value.offset, "expected an index that stands only on the right, to find its place");
    if (statement_.assign != Assign::set || !reduces()) return;
    const Name& extra = builder_.indices()[target_rank()].name;
    const std::string name(extra.text);
    throw error(extra.offset, "expected an index of the left side or a known name, got '" + name +
                                  "'; to combine over it write '+=!', '*=!', 'min=!' or 'max=!'" +
                                  (name.size() > 1 ? suggestion(name, scope_.names()) : ""));
  }

  // A statement that reads other elements of its own tensor looks like a recurrence, but is none; warn about it.
  std::vector<std::string> warnings() const {
    for (const Use& use : builder_.uses()) {
      const auto& load = *use.load.as<ir::Load>();
      if (use.syntax == nullptr || earlier_.buffer() == nullptr || load.buffer != earlier_.buffer()) continue;
      bool same_element = true;
      for (std::size_t i = 0; i < target_rank(); ++i)
        same_element = same_element && load.indices[i].same_as(builder_.indices()[i].var);
      if (same_element) continue;
      const std::string name(statement_.target.text);
      return {error(use.syntax->offset, "warning: '" + name +
                                            "' is read as it was before this statement: elements of '" + name +
                                            "' that the statement computes are not seen by it")
                  .what()};
    }
    return {};
  }

  std::vector<ir::Axis> target_axes(const RangeInference& ranges) {
    std::vector<ir::Axis> axes;
    inside_ = Expr();
    for (std::size_t i = 0; i < target_rank(); ++i) {
      const Index& index = builder_.indices()[i];
      const IndexRange& range = ranges.of(index.var);
      if (earlier_.buffer() != nullptr) {
        axes.push_back({index.var, Expr(0), earlier_.shape()[i]});
        limit(index.var, range, earlier_.shape()[i]);
        continue;
      }
      if (constant_of(range.begin) != 0) {
        throw error(index.name.offset, "expected the range of '" + std::string(index.name.text) +
                                           "' to start at 0, since it indexes the new tensor '" +
                                           std::string(statement_.target.text) + "', got " + bound_text(range.begin) +
                                           cure(index, range.begin));
      }
      axes.push_back({index.var, Expr(0), algebra_.to_expr(range.end)});
    }
    return axes;
  }

  // Returns what the user can write instead. A range that starts above 0 follows from uses such as A(i - 1); the
  // elements before need values then. One that starts below 0 was given.
  static std::string cure(const Index& index, const Polynomial& begin) {
    const std::string name(index.name.text);
    const auto constant = constant_of(begin);
    if (constant && *constant < 0) return "; let it start there, and shift '" + name + "' where it is used";
    return "; say that it starts at 0, and what the elements before are: " + name +
           " >= " + (constant ? std::to_string(*constant) : "START") + " ? ... : 0 where " + name + " in 0:END";
  }

  // A statement that covers only part of its tensor leaves the rest unchanged.
  void limit(const Expr& index, const IndexRange& range, const Expr& size) {
    if (constant_of(range.begin) != 0) add_limit(index >= algebra_.to_expr(range.begin));
    if (!(range.end == algebra_.of(size))) add_limit(index < algebra_.to_expr(range.end));
  }

  void add_limit(const Expr& condition) { inside_ = inside_.defined() ? inside_ && condition : condition; }

  Expr assemble(const RangeInference& ranges, const Expr& value) {
    const Expr before = earlier_.buffer() != nullptr ? earlier_.at(target_point()) : Expr();
    const bool continues = statement_.assign != Assign::set && !statement_.initialise;
    if (!reduces()) {
      const Expr now = continues ? combine(statement_.assign, before, value) : value;
      return inside_.defined() ? ir::if_then_else(inside_, now, before) : now;
    }
    std::vector<ir::Axis> axes = combined_axes(ranges);
    const ir::ReducerRef reducer = ir::make_reducer(reduce_op(statement_.assign), value.type());
    std::vector<Expr> init;
    if (continues) {
      init.push_back(before);
    } else if (inside_.defined()) {
      init.push_back(ir::select(inside_, ir::identity_of(reducer->op, value.type()), before));
    }
    return ir::Reduce::make(reducer, {value}, std::move(axes), inside_, std::move(init));
  }

  std::vector<ir::Axis> combined_axes(const RangeInference& ranges) const {
    std::vector<ir::Axis> axes;
    for (std::size_t i = target_rank(); i < builder_.indices().size(); ++i) {
      const Expr& index = builder_.indices()[i].var;
      const IndexRange& range = ranges.of(index);
      axes.push_back(
          {index, algebra_.to_expr(range.begin), algebra_.to_expr(algebra_.subtract(range.end, range.begin))});
    }
    return axes;
  }

  // The row-major position among all combinations of the indices, each counted from the start of its range.
  std::vector<Expr> find_place(const RangeInference& ranges, const Expr& value) const {
    const std::vector<ir::Axis> axes = combined_axes(ranges);
    Expr place = axes[0].var - axes[0].min;
    for (std::size_t i = 1; i < axes.size(); ++i) place = place * axes[i].extent + (axes[i].var - axes[i].min);
    const std::vector<ReduceAxis> over(axes.begin(), axes.end());
    std::vector<Expr> both =
        statement_.assign == Assign::argmax ? argmax_over(value, place, over) : argmin_over(value, place, over);
    if (!statement_.value_target) both.erase(both.begin());
    return both;
  }

  const Scope& scope_;
  const StatementSyntax& statement_;
  ExpressionBuilder builder_;
  Algebra algebra_;
  Tensor earlier_;
  std::shared_ptr<ir::Buffer> self_;  // the statement's own tensor, if it is computed in sequence
  std::optional<std::size_t> along_;
  Expr inside_;  // condition under which the statement applies; undefined: everywhere
};

}  // namespace

StatementResult analyze_statement(const Scope& scope, const StatementSyntax& statement,
                                  const std::vector<std::string>& names) {
  return scope.source->at(statement.target.offset, [&] {
    return is_scatter(statement) ? analyze_updates(scope, statement, names.back())
                                 : StatementAnalysis(scope, statement).run(names);
  });
}

}  // namespace ferry::lang
