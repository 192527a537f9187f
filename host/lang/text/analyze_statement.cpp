#include "host/lang/text/analyze_statement.h"

#include "crosscompile/ir/mutator.h"
#include "ferry/lang/user_reducer.h"
#include "host/lang/names.h"
#include "host/lang/stages.h"
#include "host/lang/text/infer_ranges.h"

#include <algorithm>

namespace ferry::lang {
namespace {

// Replaces an if_then_else that need not guard anything by a select, which vectorises better.
class Unguard : public ir::Mutator {
 public:
  explicit Unguard(const std::unordered_set<const ir::ExprNode*>& safe) : safe_(safe) {}

 protected:
  using Mutator::mutate_node;
  Expr mutate_node(const ir::IfThenElse& node, const Expr& self) override {
    const Expr inner = Mutator::mutate_node(node, self);
    for (const Expr& side : {node.on_true, node.on_false}) {
      for (const ir::Load* load : loads_of(side)) {
        if (!safe_.contains(load)) return inner;
      }
    }
    const auto& choice = *inner.as<ir::IfThenElse>();
    return ir::Select::make(choice.condition, choice.on_true, choice.on_false);
  }

 private:
  const std::unordered_set<const ir::ExprNode*>& safe_;
};

ir::ReduceOp reduce_op(Assign assign) {
  switch (assign) {
    case Assign::sum: return ir::ReduceOp::sum;
    case Assign::prod: return ir::ReduceOp::prod;
    case Assign::min: return ir::ReduceOp::min;
    case Assign::max: return ir::ReduceOp::max;
    case Assign::any: return ir::ReduceOp::any;
    case Assign::all: return ir::ReduceOp::all;
    case Assign::set:
    case Assign::argmax:
    case Assign::argmin: break;
  }
  throw InternalError("an assignment that combines nothing, or more than values");
}

Expr combine(Assign assign, const Expr& left, const Expr& right) {
  switch (assign) {
    case Assign::sum: return left + right;
    case Assign::prod: return left * right;
    case Assign::min: return ir::min(left, right);
    case Assign::max: return ir::max(left, right);
    case Assign::any: return left || right;
    case Assign::all: return left && right;
    case Assign::set:
    case Assign::argmax:
    case Assign::argmin: return right;
  }
  throw InternalError("an assignment of no kind");
}

const char* text_of(Assign assign) {
  switch (assign) {
    case Assign::set: return "=";
    case Assign::sum: return "+=";
    case Assign::prod: return "*=";
    case Assign::min: return "min=";
    case Assign::max: return "max=";
    case Assign::any: return "any=";
    case Assign::all: return "all=";
    case Assign::argmax: return "argmax=";
    case Assign::argmin: return "argmin=";
  }
  return "";
}

class StatementAnalysis {
 public:
  StatementAnalysis(const Scope& scope, const StatementSyntax& statement)
      : scope_(scope), statement_(statement), builder_(scope, true) {}

  StatementResult run(const std::vector<std::string>& names) {
    left_side();
    const bool fixed_type = earlier_.buffer() != nullptr;
    Expr value = fixed_type ? builder_.build(statement_.value, earlier_.dtype()) : builder_.build(statement_.value);
    if (fixed_type) value = ir::cast(earlier_.dtype(), value);
    check_reduction(value);
    RangeInference ranges(scope_, statement_, builder_, earlier_, algebra_);
    ranges.run();
    value = Unguard(ranges.safe_loads()).mutate(value);
    std::vector<ir::Axis> axes = target_axes(ranges);
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
    if (statement_.assign != Assign::set) {
      const bool logic = statement_.assign == Assign::any || statement_.assign == Assign::all;
      if (logic && !value.type().is_bool()) {
        throw error(statement_.value.offset, "expected conditions to combine with '" +
                                                 std::string(text_of(statement_.assign)) + "', got " +
                                                 ir::to_text(value.type()));
      }
      if (finds_place(statement_.assign) && !reduces()) {
        throw error(statement_.value.offset, "expected an index that stands only on the right, to find its place");
      }
      if (logic || !value.type().is_bool()) return;
      throw error(statement_.value.offset, "expected numbers to combine with '" +
                                               std::string(text_of(statement_.assign)) +
                                               "', got bool; cast it first, as in int(...)");
    }
    if (!reduces()) return;
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
                                           std::string(statement_.target.text) + "', got " +
                                           text_of_bound(range.begin) + cure(index, range.begin));
      }
      axes.push_back({index.var, Expr(0), algebra_.to_expr(range.end)});
    }
    return axes;
  }

  std::string text_of_bound(const Polynomial& bound) const {
    const auto constant = constant_of(bound);
    return constant ? std::to_string(*constant) : "one that depends on sizes";
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
    std::vector<Expr> at;
    for (std::size_t i = 0; i < target_rank(); ++i) at.push_back(builder_.indices()[i].var);
    const Expr before = earlier_.buffer() != nullptr ? earlier_.at(std::move(at)) : Expr();
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
  Expr inside_;  // condition under which the statement applies; undefined: everywhere
};

}  // namespace

StatementResult analyze_statement(const Scope& scope, const StatementSyntax& statement,
                                  const std::vector<std::string>& names) {
  return scope.source->at(statement.target.offset, [&] { return StatementAnalysis(scope, statement).run(names); });
}

}  // namespace ferry::lang
