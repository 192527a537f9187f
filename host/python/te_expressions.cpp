// Expressions with Python's operators. `and`, `or`, `not` and chained comparisons ask for a truth value, which is
// refused.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "ferry/error.h"
#include "host/python/bindings.h"
#include "host/python/te.h"

namespace nb = nanobind;

namespace ferry::python {

namespace {

using ir::Expr;
using ir::ExprOrLiteral;
using Binary = Expr (*)(const ExprOrLiteral&, const ExprOrLiteral&);

constexpr const char* kNumber = "Expr | float";

void operators(nb::class_<Expr>& type, const char* name, const char* reversed, Binary function) {
  const auto signature = [](const char* method) {
    return "def " + std::string(method) + "(self, other: " + kNumber + ", /) -> Expr";
  };
  type.def(
      name, [function](const Expr& self, nb::handle other) { return function(self, operand_of(other)); },
      nb::sig(signature(name).c_str()));
  if (reversed == nullptr) return;
  type.def(
      reversed, [function](const Expr& self, nb::handle other) { return function(operand_of(other), self); },
      nb::sig(signature(reversed).c_str()));
}

Expr power(const ExprOrLiteral& base, const ExprOrLiteral& exponent) { return ir::call_math("pow", {base, exponent}); }
Expr true_division(const ExprOrLiteral& left, const ExprOrLiteral& right) {
  if (left.type().is_float() || right.type().is_float()) return ir::operator/(left, right);
  throw nb::type_error("/ of two integers: expected //, which rounds down, or a cast of one of them to a float");
}
Expr floor_division(const ExprOrLiteral& left, const ExprOrLiteral& right) {
  const Expr quotient = ir::operator/(left, right);
  return quotient.type().is_float() ? ir::call_math("floor", {quotient}) : quotient;
}

[[noreturn]] bool no_truth(const Expr& expr) {
  throw nb::type_error(("'" + ir::to_text(expr) +
                        "' has no value yet, so it cannot be true or false: expected te.all_of, te.any_of and te.not_ "
                        "in place of and, or and not, and all_of for comparisons in a row")
                           .c_str());
}

}  // namespace

ExprOrLiteral operand_of(nb::handle value) {
  if (nb::isinstance<Expr>(value)) return ExprOrLiteral(nb::cast<const Expr&>(value));
  if (nb::isinstance<nb::bool_>(value)) return ExprOrLiteral(nb::cast<bool>(value));
  if (PyFloat_Check(value.ptr())) return ExprOrLiteral(nb::cast<double>(value));
  if (PyIndex_Check(value.ptr()) != 0) {
    const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
    std::int64_t number = 0;
    if (whole.is_valid() && nb::try_cast(whole, number)) return ExprOrLiteral(number);
    PyErr_Clear();
    throw nb::type_error("an integer in an expression: expected one of at most 64 bits");
  }
  if (nb::hasattr(value, "__float__")) return ExprOrLiteral(nb::cast<double>(nb::float_(value)));
  throw nb::type_error(
      ("expected an expression or a number, got " + std::string(nb::type_name(value.type()).c_str())).c_str());
}

Expr expr_of(nb::handle value) { return operand_of(value).expr(); }

std::vector<Expr> exprs_of(nb::handle values) {
  std::vector<Expr> all;
  for (nb::handle value : values) all.push_back(expr_of(value));
  return all;
}

DType dtype_of_name(const std::string& name) {
  if (const std::optional<DType> type = parse_dtype(name)) return *type;
  throw UsageError("expected a type of elements such as f32 or int8, got '" + name + "'");
}

void bind_expressions(nb::module_& module) {
  nb::class_<Expr> type(module, "Expr", "A number that a kernel computes. Its operators make expressions of it.");
  operators(type, "__add__", "__radd__",
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator+(a, b); });
  operators(type, "__sub__", "__rsub__",
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator-(a, b); });
  operators(type, "__mul__", "__rmul__",
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator*(a, b); });
  operators(type, "__truediv__", "__rtruediv__", true_division);
  operators(type, "__floordiv__", "__rfloordiv__", floor_division);
  operators(type, "__mod__", "__rmod__",
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator%(a, b); });
  operators(type, "__pow__", "__rpow__", power);
  operators(type, "__and__", "__rand__",
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator&(a, b); });
  operators(type, "__or__", "__ror__",
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator|(a, b); });
  operators(type, "__xor__", "__rxor__",
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator^(a, b); });
  operators(type, "__lshift__", "__rlshift__",
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator<<(a, b); });
  operators(type, "__rshift__", "__rrshift__",
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator>>(a, b); });
  operators(type, "__lt__", nullptr,
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator<(a, b); });
  operators(type, "__le__", nullptr,
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator<=(a, b); });
  operators(type, "__gt__", nullptr,
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator>(a, b); });
  operators(type, "__ge__", nullptr,
            [](const ExprOrLiteral& a, const ExprOrLiteral& b) { return ir::operator>=(a, b); });
  type.def(
      "__eq__", [](const Expr& self, nb::handle other) { return ir::operator==(self, operand_of(other)); },
      nb::sig("def __eq__(self, other: object, /) -> typing.Any"));
  type.def(
      "__ne__", [](const Expr& self, nb::handle other) { return ir::operator!=(self, operand_of(other)); },
      nb::sig("def __ne__(self, other: object, /) -> typing.Any"));
  type.def("__hash__", [](const Expr& self) { return std::hash<const void*>()(self.get()); })
      .def("__neg__", [](const Expr& self) { return ir::operator-(self); })
      .def("__pos__", [](const Expr& self) { return self; })
      .def("__abs__", [](const Expr& self) { return ir::call_math("abs", {self}); })
      .def("__invert__", [](const Expr& self) { return ir::operator~(self); })
      .def("__bool__", no_truth)
      .def("__repr__", [](const Expr& self) { return ir::to_text(self); })
      .def_prop_ro(
          "dtype", [](const Expr& self) { return ir::to_text(self.type()); }, "Its type: \"f32\", \"i64\", \"bool\".");

  nb::class_<PyAxis, Expr>(module, "Axis", "An index over a range: of a tensor that is computed, or of a reduction.")
      .def_prop_ro(
          "extent", [](const PyAxis& self) { return self.axis.extent; }, "How many values it has.")
      .def_prop_ro("min", [](const PyAxis& self) { return self.axis.min; }, "Its first value.");

  const auto function = [&module](const char* name, Binary of) {
    module.def(name, [of](nb::handle a, nb::handle b) { return of(operand_of(a), operand_of(b)); });
  };
  function("_minimum", ir::min);
  function("_maximum", ir::max);
  function("_ceil_div", ir::ceil_div);
  module.def("_var", [](const std::string& name, const std::string& dtype) {
    return lang::var(name, ir::Type(dtype_of_name(dtype)));
  });
  module.def("_axis", [](const std::string& name, nb::handle min, nb::handle extent) {
    return PyAxis(lang::ReduceAxis(expr_of(min), expr_of(extent), name).axis());
  });
  module.def("_cast", [](const std::string& dtype, nb::handle value) {
    const ExprOrLiteral operand = operand_of(value);
    const DType to = dtype_of_name(dtype);
    return ir::cast(to, operand.expr());
  });
  module.def("_select", [](const Expr& condition, nb::handle a, nb::handle b) {
    return ir::select(condition, operand_of(a), operand_of(b));
  });
  module.def("_if_then_else", [](const Expr& condition, nb::handle a, nb::handle b) {
    return ir::if_then_else(condition, operand_of(a), operand_of(b));
  });
  module.def(
      "_call",
      [](const std::string& name, const nb::args& given) {
        std::vector<ExprOrLiteral> arguments;
        for (nb::handle argument : given) arguments.push_back(operand_of(argument));
        return ir::call_math(name, arguments);
      },
      nb::sig("def _call(name: str, *arguments: Expr | float) -> Expr"));
  module.def(
      "_extern_call",
      [](const std::string& name, const nb::args& given) { return lang::extern_call(name, exprs_of(given)); },
      nb::sig("def _extern_call(name: str, *arguments: Expr | float) -> Expr"));
  module.def("_let", [](const std::string& name, const Expr& value, const nb::object& body) {
    return ir::let(name, value, [&](const Expr& x) { return expr_of(body(x)); });
  });
  module.def("_all_of", [](const std::vector<Expr>& conditions) { return lang::all_of(conditions); });
  module.def("_any_of", [](const std::vector<Expr>& conditions) { return lang::any_of(conditions); });
  module.def("_not", [](const Expr& condition) { return ir::logical_not(condition); });
  module.def("_math_functions", [] {
    std::vector<std::string> names;
#define FERRY_MATH(name, arguments, kind) names.emplace_back(#name);
#include "ferry/math.def"
#undef FERRY_MATH
    return names;
  });
}

}  // namespace ferry::python
