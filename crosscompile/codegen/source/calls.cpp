#include "crosscompile/codegen/source/calls.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"

#include <algorithm>

namespace ferry::codegen::source {
namespace {

// Returns the C library's name of a float function of float64; the name for float32 has an f appended. All dialects use
// the same names.
std::string_view library_name(ir::MathFunction function) {
  if (function == ir::MathFunction::abs) return "fabs";
  // roundeven is younger than C11, and OpenCL and CUDA lack it; in the default rounding mode rint gives the same.
  if (function == ir::MathFunction::round_even) return "rint";
  return ir::signature_of(function).name;
}

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
    throw InternalError("'" + to_text(node.callee) + "' of a narrow float; legalize_floats must stand before");
  const std::string arguments = "(" + list(state, node.arguments) + ")";
  switch (node.callee.math) {
    case ir::MathFunction::sigmoid: return {state.unit.helpers.use(Helper::sigmoid, type) + arguments};
    case ir::MathFunction::rsqrt: {
      const char* one = type == DType::f32 ? "1.0f / " : "1.0 / ";
      return {one + math_function(state, "sqrt", type) + arguments, Binding::product};
    }
    case ir::MathFunction::abs:
    case ir::MathFunction::exp:
    case ir::MathFunction::exp2:
    case ir::MathFunction::log:
    case ir::MathFunction::log2:
    case ir::MathFunction::log1p:
    case ir::MathFunction::expm1:
    case ir::MathFunction::sqrt:
    case ir::MathFunction::sin:
    case ir::MathFunction::cos:
    case ir::MathFunction::tan:
    case ir::MathFunction::tanh:
    case ir::MathFunction::sinh:
    case ir::MathFunction::cosh:
    case ir::MathFunction::asin:
    case ir::MathFunction::acos:
    case ir::MathFunction::atan:
    case ir::MathFunction::atan2:
    case ir::MathFunction::erf:
    case ir::MathFunction::pow:
    case ir::MathFunction::fmod:
    case ir::MathFunction::floor:
    case ir::MathFunction::ceil:
    case ir::MathFunction::round:
    case ir::MathFunction::round_even:
    case ir::MathFunction::trunc:
    case ir::MathFunction::fma: return {math_function(state, library_name(node.callee.math), type) + arguments};
    case ir::MathFunction::popcount:
    case ir::MathFunction::clz: break;
  }
  throw InternalError("float_math: '" + to_text(node.callee) + "' is a function of integers");
}

Text integer_math(FunctionState& state, const ir::Call& node) {
  const ir::MathFunction function = node.callee.math;
  if (function == ir::MathFunction::abs && node.type.is_unsigned_int()) return expr_text(state, node.arguments[0]);
  const Helper helper = function == ir::MathFunction::abs        ? Helper::abs
                        : function == ir::MathFunction::popcount ? Helper::popcount
                                                                 : Helper::clz;
  return {state.unit.helpers.use(helper, node.type.code) + "(" + list(state, node.arguments) + ")"};
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

Text scale_text(FunctionState& state, const ir::Call& node) {
  const std::string exponent = "(int32_t)" + print(state, node.arguments[1], Binding::unary);
  return {math_function(state, "ldexp", node.type.code) + "(" + print(state, node.arguments[0]) + ", " + exponent +
          ")"};
}

// Prints the call of a C function and, in C, declares it.
Text external_text(FunctionState& state, const ir::Call& node) {
  Prototype wanted{value_type(node.type.code), {}};
  for (const ir::Expr& argument : node.arguments) wanted.parameters.push_back(value_type(argument.type().code));
  // A GPU's language has functions of its own; a declaration for the host would only hide them.
  if (!state.on_gpu()) declare(state, node.callee.name, wanted);
  return {node.callee.name + "(" + list(state, node.arguments) + ")"};
}

}  // namespace

Text call_text(FunctionState& state, const ir::Call& node) {
  switch (node.callee.op) {
    case ir::CallOp::math: return node.type.is_float() ? float_math(state, node) : integer_math(state, node);
    case ir::CallOp::external: return external_text(state, node);
    case ir::CallOp::bitcast: return bitcast_text(state, node);
    case ir::CallOp::scale: return scale_text(state, node);
    case ir::CallOp::shuffle_xor: return shuffle_text(state, node);
    case ir::CallOp::intrinsic:
    case ir::CallOp::dot:
    case ir::CallOp::barrier:
    case ir::CallOp::prefetch:
    case ir::CallOp::commit_copies:
    case ir::CallOp::wait_copies:
    case ir::CallOp::address_of: break;
  }
  throw InternalError("call_text: '" + to_text(node.callee) + "' has no value in source code");
}

void print_extern_call(FunctionState& state, const ir::Call& node) {
  const std::string& name = node.callee.name;
  if (state.on_gpu()) throw CompileError("expected what a GPU can compute, got the C function '" + name + "'");
  Prototype wanted{"void", {}};
  for (const ir::Expr& argument : node.arguments) {
    const ir::Load* element = ir::addressed(argument);
    wanted.parameters.push_back(element == nullptr ? value_type(argument.type().code)
                                                   : pointed_to(state, *element->buffer));
  }
  const Prototype& known = declare(state, name, wanted);
  std::string arguments;
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    if (i > 0) arguments += ", ";
    const ir::Load* element = ir::addressed(node.arguments[i]);
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
  state.line(name + "(" + arguments + ");");
}

}  // namespace ferry::codegen::source
