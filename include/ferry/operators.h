// C++ operators that build expressions, with the language's implicit conversions (docs/language.md): both sides of an
// operation are converted to the wider type.
//   - An expression, constants included, has a fixed type: Expr(2) is an int64, constant(DType::i8, 2) an int8.
//   - A literal, a C++ number next to an expression, takes the type of the other operand: an integer takes any number
//     type that holds it (CompileError when the value does not fit), a float any float type; next to an integer, a
//     float literal is a float32.
//   - A float with an integer gives the float type; float16 with bfloat16 gives float32.
//   - A signed with an unsigned integer gives the narrowest signed type that holds both; int64 with uint64 gives int64.
//   - A scalar with a vector is broadcast.
// Operations on constants are folded; so are x + 0, x * 1 and the like on integers, and && and || with a constant.
// Shifts have the type of their left side; a literal there takes the type of the right side.
//
// Beware: where this header is included, `!`, `==` and `&&` on handles build expressions; test a handle with defined()
// and same_as().
#pragma once

#include "ferry/expr.h"

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace ferry::ir {

// Returns the type to which both sides are converted. Throws CompileError when one is rejected (bool in arithmetic).
Type common_type(Type left, Type right);

// One side of an operation: an expression, or a literal.
class ExprOrLiteral {
 public:
  template <std::convertible_to<Expr> E>
    requires(!std::is_arithmetic_v<E>)
  ExprOrLiteral(const E& expr) : expr_(expr) {}
  // Literals.
  ExprOrLiteral(int value) : expr_(value), is_literal_(true) {}
  ExprOrLiteral(std::int64_t value) : expr_(value), is_literal_(true) {}
  ExprOrLiteral(float value) : expr_(value), is_literal_(true) {}
  ExprOrLiteral(double value) : expr_(value), is_literal_(true) {}
  // true and false have only one type.
  ExprOrLiteral(bool value);
  // A numeric constant that takes the type of the other operand.
  static ExprOrLiteral literal(Expr constant);

  // Returns the expression with the type that it has on its own.
  const Expr& expr() const { return expr_; }
  Type type() const { return expr_.type(); }
  bool is_literal() const { return is_literal_; }
  // Converts to the type `to`; throws CompileError for an integer literal that does not fit.
  Expr as(DType to) const;

 private:
  Expr expr_;
  bool is_literal_ = false;
};

// Converts all operands to their common type.
std::vector<Expr> unify(const std::vector<ExprOrLiteral>& operands);

Expr operator+(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator-(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator*(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator/(const ExprOrLiteral& left, const ExprOrLiteral& right);  // floor for integers
Expr operator%(const ExprOrLiteral& left, const ExprOrLiteral& right);  // floor; for floats, built from fmod
Expr operator-(Expr value);
Expr operator&(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator|(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator^(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator~(Expr value);
Expr operator<<(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator>>(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator==(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator!=(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator<(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator<=(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator>(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator>=(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr operator&&(Expr left, Expr right);
Expr operator||(Expr left, Expr right);
Expr logical_not(const Expr& value);
// A template, so that it is not a candidate for the smart pointers that convert to Expr.
template <std::same_as<Expr> E>
Expr operator!(const E& value) {
  return logical_not(value);
}
Expr min(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr max(const ExprOrLiteral& left, const ExprOrLiteral& right);
Expr select(Expr condition, const ExprOrLiteral& on_true, const ExprOrLiteral& on_false);
Expr if_then_else(Expr condition, const ExprOrLiteral& on_true, const ExprOrLiteral& on_false);
Expr cast(DType to, Expr value);
// Calls a function of math.def. Integer arguments of a float_only function become f32.
Expr call_math(MathFunction function, const std::vector<ExprOrLiteral>& arguments);
// Throws CompileError for a name that is not in math.def.
Expr call_math(const std::string& name, const std::vector<ExprOrLiteral>& arguments);
// A template, so that it is not a candidate for lists in braces.
template <class Function, std::same_as<Expr> E>
Expr call_math(const Function& function, const std::vector<E>& arguments) {
  return call_math(function, std::vector<ExprOrLiteral>(arguments.begin(), arguments.end()));
}
// Calls a C function on numbers, lane by lane in vectors. Devices must offer it (module/symbols.def), or an object of
// the program's Context.
Expr call_external(Type type, std::string name, std::vector<Expr> arguments);
// Returns body(x), where x is the value, which is evaluated once however often the body uses it.
Expr let(std::string name, Expr value, const std::function<Expr(const Expr& x)>& body);
Expr ceil_div(const ExprOrLiteral& left, const ExprOrLiteral& right);

// Makes a constant of this type (and lanes).
Expr constant(Type type, double value);
Expr constant(Type type, std::int64_t value);
bool is_constant(const Expr& expr, std::int64_t value);
// Returns the value when the expression is an integer constant (or its broadcast), and otherwise null.
const std::int64_t* as_int(const Expr& expr);

}  // namespace ferry::ir
