// Calls of anything but tensors: casts, functions of the language and C functions.
#include "ferry/lang/math.h"
#include "host/lang/names.h"
#include "host/lang/text/build_expression.h"

#include <algorithm>

namespace ferry::lang {
namespace {

std::vector<std::string> builtin_names() {
  std::vector<std::string> names = type_names();
  for (const ir::MathSignature& function : ir::math_functions()) names.emplace_back(function.name);
  for (const std::string& name : extern_names()) names.push_back(name);
  names.insert(names.end(), {"min", "max", "select", "if_then_else", "clamp", "gelu", "any", "all"});
  return names;
}

}  // namespace

ExpressionBuilder::Value ExpressionBuilder::builtin(const Syntax& syntax) {
  const std::string name(syntax.text);
  const std::vector<Syntax>& parts = syntax.parts;
  const auto expect_arguments = [&](bool fits, const std::string& expected) {
    if (fits) return;
    throw scope_.source->error(syntax.offset,
                               "'" + name + "': expected " + expected + ", got " + std::to_string(parts.size()));
  };
  if (const std::optional<DType> type = parse_dtype(syntax.text)) {
    expect_arguments(parts.size() == 1, "1 value to convert");
    return ir::cast(*type, value(parts[0]).expr());
  }
  if (name == "select" || name == "if_then_else") {
    expect_arguments(parts.size() == 3, "a condition and 2 values");
    return choose(condition(parts[0]), parts[1], parts[2]);
  }
  if (name == "any" || name == "all") {
    expect_arguments(!parts.empty(), "at least 1 condition");
    return conditions(name == "all", parts);
  }
  if (name == "gelu") {
    expect_arguments(parts.size() == 1, "1 argument");
    const Value operand = value(parts[0]);
    const Expr result = gelu(settle(operand));
    return operand.is_literal() && is_self_unknown() ? unknown_like(result) : Value(result);
  }
  const bool extreme = name == "min" || name == "max";
  const bool clamp = name == "clamp";
  if (extreme) expect_arguments(parts.size() >= 2, "at least 2 values");
  if (clamp) expect_arguments(parts.size() == 3, "a value, its least and its greatest");
  const std::optional<ir::MathFunction> math = ir::find_math(name);
  if (!math && is_extern(name) && !scope_.has(name)) {
    std::vector<Expr> arguments;
    for (const Syntax& part : parts) arguments.push_back(build(part, name.back() == 'f' ? DType::f32 : DType::f64));
    return extern_call(name, std::move(arguments));
  }
  if (!math && !extreme && !clamp) {
    scope_.check_not_later(syntax.text, syntax.offset);
    const std::string kind =
        scope_.has(name) ? "' is not a tensor, so it has no indices" : "' is neither a tensor nor a function";
    std::vector<std::string> known = builtin_names();
    for (const auto& [tensor, latest] : scope_.tensors) known.push_back(tensor);
    throw scope_.source->error(syntax.offset, "'" + name + kind + (scope_.has(name) ? "" : suggestion(name, known)));
  }
  if (math) {
    const std::size_t expected = ir::signature_of(*math).arguments;
    expect_arguments(parts.size() == expected, counted(expected, "argument", "arguments"));
  }

  std::vector<Value> values;
  for (const Syntax& part : parts) values.push_back(value(part));
  const bool literal = std::all_of(values.begin(), values.end(), [](const Value& each) { return each.is_literal(); });
  if (!extreme && !clamp) {
    const Expr result = ir::call_math(*math, together(values));
    return literal && is_self_unknown() ? unknown_like(result) : Value(result);
  }
  const std::vector<Expr> unified = ir::unify(values);
  Expr result = unified[0];
  if (clamp) {
    result = lang::clamp(unified[0], unified[1], unified[2]);
  } else {
    for (std::size_t i = 1; i < unified.size(); ++i) {
      result = name == "min" ? ir::min(result, unified[i]) : ir::max(result, unified[i]);
    }
  }
  return literal ? Value::literal(result) : Value(result);
}

}  // namespace ferry::lang
