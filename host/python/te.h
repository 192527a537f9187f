// The expression language of ferry/lang.h as ferry.te offers it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "ferry/intrinsics.h"
#include "ferry/lang.h"
#include "ferry/schedule.h"

namespace ferry::python {

// An axis of a computation or of a reduction, which is an expression too.
struct PyAxis : ir::Expr {
  explicit PyAxis(ir::Axis of) : Expr(of.var), axis(std::move(of)) {}
  ir::Axis axis;
};

struct PyProgram {
  lang::Program program;
};

// Functions of one's own. Programs get a copy of the context, as whoever compiles reads it without Python's lock.
struct PyContext {
  Context context;
  std::vector<std::shared_ptr<PyObject>> functions;  // called by the rules; Python collects cycles through them
};

struct PySchedule {
  lang::Program program;
  schedule::Schedule schedule;
};

// An expression, or a number of Python or NumPy. Throws nanobind::type_error for anything else.
ir::ExprOrLiteral operand_of(nanobind::handle value);
ir::Expr expr_of(nanobind::handle value);
std::vector<ir::Expr> exprs_of(nanobind::handle values);
// The type of a name such as "f32", "float32" or that of a dtype of NumPy. Throws UsageError.
DType dtype_of_name(const std::string& name);

void bind_expressions(nanobind::module_& module);
void bind_programs(nanobind::module_& module);
void bind_intrinsics(nanobind::module_& module);
void bind_schedules(nanobind::module_& module);

}  // namespace ferry::python
