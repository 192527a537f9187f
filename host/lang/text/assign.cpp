#include "host/lang/text/assign.h"

#include "crosscompile/ir/error.h"

#include <string>

namespace ferry::lang {

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

Expr combine(Assign assign, const Expr& before, const Expr& value) {
  switch (assign) {
    case Assign::sum: return before + value;
    case Assign::prod: return before * value;
    case Assign::min: return ir::min(before, value);
    case Assign::max: return ir::max(before, value);
    case Assign::any: return before || value;
    case Assign::all: return before && value;
    case Assign::set:
    case Assign::argmax:
    case Assign::argmin: return value;
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

void check_combined(const Source& source, const StatementSyntax& statement, const Expr& value) {
  if (statement.assign == Assign::set) return;
  const std::string op = text_of(statement.assign);
  const bool logic = statement.assign == Assign::any || statement.assign == Assign::all;
  if (logic && !value.type().is_bool()) {
    throw source.error(statement.value.offset,
                       "expected conditions to combine with '" + op + "', got " + ir::to_text(value.type()));
  }
  if (logic || !value.type().is_bool()) return;
  throw source.error(statement.value.offset,
                     "expected numbers to combine with '" + op + "', got bool; cast it first, as in int(...)");
}

}  // namespace ferry::lang
