#include "crosscompile/codegen/source/calls.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/shuffle.h"

#include <algorithm>

namespace ferry::codegen::source {
namespace {

struct MathName {
  std::string_view name, function;
};

// Float functions that have the C library's name for float64; the name for float32 has an f appended. All dialects use
// the same names.
constexpr MathName kMath[] = {
    {"abs", "fabs"},    {"exp", "exp"},   {"exp2", "exp2"}, {"log", "log"},     {"log2", "log2"}, {"log1p", "log1p"},
    {"expm1", "expm1"}, {"sqrt", "sqrt"}, {"sin", "sin"},   {"cos", "cos"},     {"tan", "tan"},   {"sinh", "sinh"},
    {"cosh", "cosh"},   {"tanh", "tanh"}, {"asin", "asin"}, {"acos", "acos"},   {"atan", "atan"}, {"atan2", "atan2"},
    {"erf", "erf"},     {"pow", "pow"},   {"fmod", "fmod"}, {"floor", "floor"}, {"ceil", "ceil"}, {"round", "round"},
    {"trunc", "trunc"}, {"fma", "fma"},
};

std::string math_function(const FunctionState& state, std::string_view name, DType type) {
  const bool suffixed = type == DType::f32 && state.unit.dialect.language != Language::opencl;
  return std::string(name) + (suffixed ? "f" : "");
}

std::string list(FunctionState& state, const std::vector<ir::Expr>& arguments) {
  std::string text;
  for (const ir::Expr& argument : arguments) text += (text.empty() ? "" : ", ") + print(state, argument);
  return text;
}

Text float_math(FunctionState& state, const ir::Call& node) {
  const DType type = node.type.code;
  if (type != DType::f32 && type != DType::f64)
    throw InternalError("'" + node.name + "' of a narrow float; legalize_floats must stand before");
  if (node.name == "sigmoid")
    return {state.unit.helpers.use(Helper::sigmoid, type) + "(" + list(state, node.arguments) + ")"};
  if (node.name == "rsqrt") {
    const char* one = type == DType::f32 ? "1.0f / " : "1.0 / ";
    return {one + math_function(state, "sqrt", type) + "(" + list(state, node.arguments) + ")", Binding::product};
  }
  for (const MathName& known : kMath) {
    if (known.name == node.name)
      return {math_function(state, known.function, type) + "(" + list(state, node.arguments) + ")"};
  }
  throw InternalError("float_math: unknown function '" + node.name + "'");
}

Text integer_math(FunctionState& state, const ir::Call& node) {
  const DType type = node.type.code;
  if (node.name == "abs" && node.type.is_unsigned_int()) return expr_text(state, node.arguments[0]);
  const Helper helper = node.name == "abs" ? Helper::abs : node.name == "popcount" ? Helper::popcount : Helper::clz;
  return {state.unit.helpers.use(helper, type) + "(" + list(state, node.arguments) + ")"};
}

bool is_math(std::string_view name) {
#define FERRY_MATH(function, arguments, kind) \
  if (name == #function) return true;
#include "crosscompile/ir/math.def"
#undef FERRY_MATH
  return false;
}

Text bitcast_text(FunctionState& state, const ir::Call& node) {
  const ir::Expr& value = node.arguments[0];
  const DType from = value.type().code, to = node.type.code;
  const auto has_bits = [](DType type) { return type == DType::f32 || type == DType::f64; };
  const auto cast = [&](const std::string& text) { return Text{"(" + value_type(to) + ")" + text, Binding::unary}; };
  // Narrow floats are represented by their bits.
  if (const auto* known = value.as<ir::IntImm>(); known != nullptr && is_float(to) && !has_bits(to))
    return {int_literal(state.unit.dialect.language, to, known->value)};
  if (from == to) return expr_text(state, value);
  if (has_bits(from)) {
    const std::string bits = state.unit.helpers.use(Helper::bits, from) + "(" + print(state, value) + ")";
    return is_unsigned_int(to) ? Text{bits} : cast(bits);
  }
  if (has_bits(to)) return {state.unit.helpers.use(Helper::from_bits, to) + "(" + print(state, value) + ")"};
  return cast(print(state, value, Binding::unary));
}

std::string pointed_to(FunctionState& state, const ir::Buffer& buffer) {
  const auto is_input = [&](const ir::FunctionParameter& parameter) {
    return parameter.buffer.get() == &buffer && parameter.direction == Direction::in;
  };
  const auto& parameters = state.source.parameters;
  const bool read_only = std::any_of(parameters.begin(), parameters.end(), is_input);
  return (read_only ? "const " : "") + memory_type(buffer.dtype) + "*";
}

std::string without_const(const std::string& type) { return type.starts_with("const ") ? type.substr(6) : type; }

// Declares the function. Calls may differ in whether their pointers are to const; the first declaration then applies.
const Prototype& declare(FunctionState& state, const std::string& name, const Prototype& wanted) {
  const auto [entry, is_new] = state.unit.prototypes.emplace(name, wanted);
  const Prototype& known = entry->second;
  bool same = known.result == wanted.result && known.parameters.size() == wanted.parameters.size();
  for (std::size_t i = 0; same && i < wanted.parameters.size(); ++i)
    same = without_const(known.parameters[i]) == without_const(wanted.parameters[i]);
  if (!same) throw CompileError("'" + name + "' is called with two different sets of argument types");
  return known;
}

// Prints a shuffle; CUDA only shuffles values of 32 or 64 bits.
Text shuffle_text(FunctionState& state, const ir::Call& node) {
  if (state.unit.dialect.language != Language::cuda)
    throw InternalError("a shuffle where there is none; reduce_threads makes them for CUDA alone");
  const DType type = node.type.code;
  const bool is_narrow = node.type.bits() < 32;
  const std::string value =
      (is_narrow ? "(int32_t)" : "") + print(state, node.arguments[0], is_narrow ? Binding::unary : Binding::lowest);
  const std::string call = "__shfl_xor_sync(0xffffffffu, " + value + ", " + print_index(state, node.arguments[1]) + ")";
  if (!is_narrow) return {call};
  if (type == DType::boolean) return {call + " != 0", Binding::equality};
  return {"(" + value_type(type) + ")" + call, Binding::unary};
}

// Prints the call of a C function and, in C, declares it.
Text external_text(FunctionState& state, const ir::Call& node) {
  Prototype wanted{value_type(node.type.code), {}};
  for (const ir::Expr& argument : node.arguments) wanted.parameters.push_back(value_type(argument.type().code));
  // A GPU's language has functions of its own; a declaration for the host would only hide them.
  if (!state.on_gpu()) declare(state, node.name, wanted);
  return {node.name + "(" + list(state, node.arguments) + ")"};
}

}  // namespace

Text call_text(FunctionState& state, const ir::Call& node) {
  if (node.name == "bitcast") return bitcast_text(state, node);
  if (node.name == "scale") {
    const std::string exponent = "(int32_t)" + print(state, node.arguments[1], Binding::unary);
    return {math_function(state, "ldexp", node.type.code) + "(" + print(state, node.arguments[0]) + ", " + exponent +
            ")"};
  }
  if (ir::is_shuffle(node)) return shuffle_text(state, node);
  if (!is_math(node.name)) return external_text(state, node);
  return node.type.is_float() ? float_math(state, node) : integer_math(state, node);
}

void print_extern_call(FunctionState& state, const ir::Call& node) {
  if (state.on_gpu()) throw CompileError("expected what a GPU can compute, got the C function '" + node.name + "'");
  Prototype wanted{"void", {}};
  for (const ir::Expr& argument : node.arguments) {
    const auto* call = argument.as<ir::Call>();
    const ir::Load* element = call == nullptr ? nullptr : ir::addressed(*call);
    wanted.parameters.push_back(element == nullptr ? value_type(argument.type().code)
                                                   : pointed_to(state, *element->buffer));
  }
  const Prototype& known = declare(state, node.name, wanted);
  std::string arguments;
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    if (i > 0) arguments += ", ";
    const auto* call = node.arguments[i].as<ir::Call>();
    const ir::Load* element = call == nullptr ? nullptr : ir::addressed(*call);
    if (element == nullptr) {
      arguments += print(state, node.arguments[i]);
      continue;
    }
    const bool drops_const = wanted.parameters[i].starts_with("const ") && !known.parameters[i].starts_with("const ");
    if (drops_const) arguments += "(" + known.parameters[i] + ")";
    const std::string buffer = state.names.of(*element->buffer);
    const auto* index = element->indices[0].as<ir::IntImm>();
    if (index != nullptr && index->value == 0)
      arguments += buffer;
    else
      arguments += "&" + buffer + "[" + print_index(state, element->indices[0]) + "]";
  }
  state.line(node.name + "(" + arguments + ");");
}

}  // namespace ferry::codegen::source
