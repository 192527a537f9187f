#include "host/lower/tensorize.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/passes/tensorize/tensor_core.h"
#include "crosscompile/passes/tensorize/tensorize_nest.h"

namespace ferry::lower {

using namespace ir;
using schedule::Loop;
using schedule::ScheduledStage;

namespace {

// The loops from the tensorized one inward.
struct Use {
  const ScheduledStage* stage = nullptr;
  std::vector<Loop> loops;
  Expr results;  // variable of the outermost of these loops over results

  std::string what() const {
    return "'" + stage->name + "': tensorize " + loops[0].name + " " + stage->tensorized->intrinsic + ": ";
  }
};

Use use_of(const Nest& nest) {
  Use use{nest.stage, {}, {}};
  const std::size_t outermost = nest.stage->tensorized->loop;
  if (!nest.loops.is_in_order(outermost))
    throw CompileError("'" + nest.name() + "': expected the tensorized axis '" + nest.loops.loop(outermost).name +
                       "' to be one of its loops still; tensorize it after what splits or fuses it");
  for (const std::size_t id : nest.loops.order())
    if (!use.loops.empty() || id == outermost) use.loops.push_back(nest.loops.loop(id));
  for (const Loop& loop : use.loops)
    if (!loop.reduces && !use.results.defined()) use.results = loop.var;
  return use;
}

class Tensorizer : public Mutator {
 public:
  Tensorizer(const Use& use, FunctionsOfC functions) : use_(use), functions_(functions) {}
  bool was_found = false;

 protected:
  using Mutator::mutate_node;

  // Results are initialised and stored in the same loops, without those of the reduction.
  Stmt mutate_node(const For& node, const Stmt& self) override {
    const auto& [loop, intrinsic, context] = *use_.stage->tensorized;
    if (use_.results.defined() && node.var.same_as(use_.results)) {
      if (const auto start = passes::as_nest(self)) {
        if (Stmt reset = passes::reset_nest(intrinsic, context.get(), *start); reset.defined())
          return chosen(reset, self);
      }
    }
    if (!node.var.same_as(use_.loops[0].var) || !holds(node, use_.loops.back().var))
      return Mutator::mutate_node(node, self);
    if (const auto instruction = passes::find_instruction(intrinsic)) {
      was_found = true;
      return InstructionStmt::make(*instruction, {}, self);
    }
    const auto nest = passes::as_nest(self);
    if (!nest) throw CompileError(use_.what() + "expected one store inside of loops of constant extents");
    was_found = true;
    try {
      return chosen(passes::tensorize_nest(intrinsic, context.get(), *nest), self);
    } catch (const CompileError& error) {
      throw CompileError(use_.what() + error.what());
    }
  }

 private:
  static bool holds(const For& node, const Expr& var) {
    if (node.var.same_as(var)) return true;
    const Stmt* inside = &node.body;
    while (const auto* branch = inside->as<If>()) inside = &branch->on_true;
    const auto* next = inside->as<For>();
    return next != nullptr && holds(*next, var);
  }

  // Returns the intrinsic, or the loops that it stands for.
  const Stmt& chosen(const Stmt& intrinsic, const Stmt& loops) const {
    const auto& [loop, name, context] = *use_.stage->tensorized;
    const bool is_c = context != nullptr && context->tensor_intrinsic(name) != nullptr;
    return is_c && functions_ == FunctionsOfC::left_as_loops ? loops : intrinsic;
  }

  const Use& use_;
  FunctionsOfC functions_;
};

}  // namespace

Stmt tensorize(const Nests& nests, const Stmt& body, FunctionsOfC functions) {
  Stmt result = body;
  for (const Nest& nest : nests) {
    if (!nest.stage->tensorized) continue;
    const Use use = use_of(nest);
    Tensorizer tensorizer(use, functions);
    result = tensorizer.mutate(result);
    if (!tensorizer.was_found) throw CompileError(use.what() + "expected nothing else to be computed in its loops");
  }
  return result;
}

}  // namespace ferry::lower
