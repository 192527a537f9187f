#include "ferry/lang/math.h"
#include "crosscompile/ir/expr.h"

#include "crosscompile/ir/error.h"
#include "host/lang/names.h"

#include <numbers>
#include <optional>

namespace ferry::lang {
namespace {

// Functions of module/symbols.def that take only numbers; each exists for double and, with the suffix 'f', for float.
struct MathFunction {
  const char* name;
  std::size_t arguments;
};
constexpr MathFunction kExterns[] = {
    {"exp", 1},       {"exp2", 1},  {"expm1", 1}, {"log", 1},   {"log2", 1}, {"log1p", 1}, {"sin", 1},
    {"cos", 1},       {"tan", 1},   {"asin", 1},  {"acos", 1},  {"atan", 1}, {"sinh", 1},  {"cosh", 1},
    {"tanh", 1},      {"erf", 1},   {"sqrt", 1},  {"floor", 1}, {"ceil", 1}, {"trunc", 1}, {"round", 1},
    {"roundeven", 1}, {"atan2", 2}, {"pow", 2},   {"fmod", 2},  {"fma", 3},
};

struct Signature {
  DType type;
  std::size_t arguments;
};

std::optional<Signature> signature_of(const std::string& name) {
  for (const MathFunction& function : kExterns) {
    if (name == function.name) return Signature{DType::f64, function.arguments};
    if (name == function.name + std::string("f")) return Signature{DType::f32, function.arguments};
  }
  return std::nullopt;
}

}  // namespace

Expr clamp(const ir::ExprOrLiteral& x, const ir::ExprOrLiteral& low, const ir::ExprOrLiteral& high) {
  const std::vector<Expr> parts = ir::unify({x, low, high});
  return ir::min(ir::max(parts[0], parts[1]), parts[2]);
}

Expr gelu(Expr x) {
  if (!x.type().is_float()) x = ir::cast(DType::f32, x);
  const auto number = [&](double value) { return ir::constant(x.type(), value); };
  return x * number(0.5) * (number(1) + erf(x * number(std::numbers::sqrt2 / 2)));
}

bool is_extern(const std::string& name) { return signature_of(name).has_value(); }

std::vector<std::string> extern_names() {
  std::vector<std::string> names;
  for (const MathFunction& function : kExterns) {
    names.emplace_back(function.name);
    names.push_back(function.name + std::string("f"));
  }
  return names;
}

Expr extern_call(const std::string& name, std::vector<Expr> arguments) {
  const std::optional<Signature> signature = signature_of(name);
  if (!signature) {
    throw CompileError("'" + name + "' is no C function on numbers that devices offer" +
                       suggestion(name, extern_names()));
  }
  if (arguments.size() != signature->arguments) {
    throw CompileError("'" + name + "': expected " + counted(signature->arguments, "argument", "arguments") + ", got " +
                       std::to_string(arguments.size()));
  }
  for (Expr& argument : arguments) {
    if (!argument.defined() || argument.type().is_bool())
      throw CompileError("'" + name + "': expected numbers as arguments");
    argument = ir::cast(signature->type, argument);
  }
  // The C functions of float64 are the math functions of the same names, as far as math.def has them.
  const std::optional<ir::MathFunction> math = ir::find_math(name);
  return ir::Call::make(signature->type, math ? ir::Callee(*math) : ir::Callee::external(name), std::move(arguments));
}

}  // namespace ferry::lang
