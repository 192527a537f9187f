// Math functions. float32 computes in double and rounds, which is as good as correctly rounded. Generated code may
// differ from this oracle by a few ulp.
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/interpreter_code.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ferry::ir::interp {
namespace {

using UnaryMath = double (*)(double);
using BinaryMath = double (*)(double, double);

// A function of floats with one argument or two; neither for the others.
struct FloatMath {
  UnaryMath unary = nullptr;
  BinaryMath binary = nullptr;
};

FloatMath float_math(MathFunction function) {
  switch (function) {
#define FERRY_ONE(name, result) \
  case MathFunction::name: return {.unary = [](double x) -> double { return result; }};
#define FERRY_TWO(name, result) \
  case MathFunction::name: return {.binary = [](double x, double y) -> double { return result; }};
    FERRY_ONE(abs, std::fabs(x))
    FERRY_ONE(exp, std::exp(x))
    FERRY_ONE(exp2, std::exp2(x))
    FERRY_ONE(log, std::log(x))
    FERRY_ONE(log2, std::log2(x))
    FERRY_ONE(log1p, std::log1p(x))
    FERRY_ONE(expm1, std::expm1(x))
    FERRY_ONE(sqrt, std::sqrt(x))
    FERRY_ONE(rsqrt, 1.0 / std::sqrt(x))
    FERRY_ONE(sin, std::sin(x))
    FERRY_ONE(cos, std::cos(x))
    FERRY_ONE(tan, std::tan(x))
    FERRY_ONE(tanh, std::tanh(x))
    FERRY_ONE(sinh, std::sinh(x))
    FERRY_ONE(cosh, std::cosh(x))
    FERRY_ONE(asin, std::asin(x))
    FERRY_ONE(acos, std::acos(x))
    FERRY_ONE(atan, std::atan(x))
    FERRY_TWO(atan2, std::atan2(x, y))
    FERRY_ONE(sigmoid, 1.0 / (1.0 + std::exp(-x)))
    FERRY_ONE(erf, std::erf(x))
    FERRY_TWO(pow, std::pow(x, y))
    FERRY_TWO(fmod, std::fmod(x, y))
    FERRY_ONE(floor, std::floor(x))
    FERRY_ONE(ceil, std::ceil(x))
    FERRY_ONE(round, std::round(x))
    FERRY_ONE(round_even, std::nearbyint(x))
    FERRY_ONE(trunc, std::trunc(x))
#undef FERRY_ONE
#undef FERRY_TWO
    case MathFunction::fma:
    case MathFunction::popcount:
    case MathFunction::clz: return {};
  }
  throw InternalError("float_math: unknown function");
}

template <DType D>
struct UnaryCall final : Code {
  CodePtr x;
  UnaryMath function;
  UnaryCall(CodePtr argument, UnaryMath f) : x(std::move(argument)), function(f) {}
  Value eval(Frame& frame, std::uint32_t lane) const override {
    using Compute = typename Element<D>::Compute;
    return Element<D>::put(static_cast<Compute>(function(static_cast<double>(Element<D>::get(x->eval(frame, lane))))));
  }
};

template <DType D>
struct BinaryCall final : Code {
  CodePtr x, y;
  BinaryMath function;
  BinaryCall(CodePtr first, CodePtr second, BinaryMath f) : x(std::move(first)), y(std::move(second)), function(f) {}
  Value eval(Frame& frame, std::uint32_t lane) const override {
    using E = Element<D>;
    const double a = static_cast<double>(E::get(x->eval(frame, lane)));
    const double b = static_cast<double>(E::get(y->eval(frame, lane)));
    return E::put(static_cast<typename E::Compute>(function(a, b)));
  }
};

// Computes fma without going through double, which would round twice.
template <DType D>
struct FmaCall final : Code {
  CodePtr x, y, z;
  explicit FmaCall(std::vector<CodePtr>& a) : x(std::move(a[0])), y(std::move(a[1])), z(std::move(a[2])) {}
  Value eval(Frame& frame, std::uint32_t lane) const override {
    using E = Element<D>;
    const auto a = E::get(x->eval(frame, lane));
    const auto b = E::get(y->eval(frame, lane));
    return E::put(std::fma(a, b, E::get(z->eval(frame, lane))));
  }
};

enum class IntMath : std::uint8_t { abs, popcount, clz };

template <DType D>
struct IntCall final : Code {
  CodePtr x;
  IntMath function;
  IntCall(CodePtr argument, IntMath f) : x(std::move(argument)), function(f) {}
  Value eval(Frame& frame, std::uint32_t lane) const override {
    using T = typename Element<D>::Compute;
    const T value = Element<D>::get(x->eval(frame, lane));
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    switch (function) {
      case IntMath::abs: return Element<D>::put(static_cast<T>(value < 0 ? std::uint64_t{0} - bits : bits));
      case IntMath::popcount: return Element<D>::put(static_cast<T>(std::popcount(bits)));
      case IntMath::clz: return Element<D>::put(static_cast<T>(std::countl_zero(bits)));
    }
    return {};
  }
};

// Values already hold their bits, and every bool is 0 or 1, so nothing is converted.
struct BitcastCode final : Code {
  CodePtr value;
  explicit BitcastCode(CodePtr v) : value(std::move(v)) {}
  Value eval(Frame& frame, std::uint32_t lane) const override { return value->eval(frame, lane); }
};

CodePtr compile_float_call(DType type, FloatMath function, std::vector<CodePtr>& arguments) {
  return with_dtype(type, [&](auto known) -> CodePtr {
    constexpr DType kType = decltype(known)::value;
    if constexpr (is_float(kType)) {
      if (arguments.size() == 1 && function.unary != nullptr)
        return std::make_unique<UnaryCall<kType>>(std::move(arguments[0]), function.unary);
      if (arguments.size() == 2 && function.binary != nullptr)
        return std::make_unique<BinaryCall<kType>>(std::move(arguments[0]), std::move(arguments[1]), function.binary);
    }
    return nullptr;
  });
}

CodePtr compile_fma(DType type, std::vector<CodePtr>& arguments) {
  return with_dtype(type, [&](auto known) -> CodePtr {
    constexpr DType kType = decltype(known)::value;
    if constexpr (is_float(kType)) {
      if (arguments.size() == 3) return std::make_unique<FmaCall<kType>>(arguments);
    }
    return nullptr;
  });
}

CodePtr compile_int_call(DType type, MathFunction called, std::vector<CodePtr>& arguments) {
  const IntMath function = called == MathFunction::popcount ? IntMath::popcount
                           : called == MathFunction::clz    ? IntMath::clz
                                                            : IntMath::abs;
  return with_dtype(type, [&](auto known) -> CodePtr {
    constexpr DType kType = decltype(known)::value;
    if constexpr (is_signed_int(kType) || is_unsigned_int(kType)) {
      return std::make_unique<IntCall<kType>>(std::move(arguments[0]), function);
    }
    return nullptr;
  });
}

CodePtr compile_math(const Call& node, MathFunction function, std::vector<CodePtr>& arguments) {
  const DType type = node.type.code;
  if (node.type.is_int()) return compile_int_call(type, function, arguments);
  if (function == MathFunction::fma) return compile_fma(type, arguments);
  return compile_float_call(type, float_math(function), arguments);
}

// Knows the C library's functions of floats, whose names for float32 have an f appended.
CodePtr compile_external(const Call& node, std::vector<CodePtr>& arguments) {
  const bool same_types = std::all_of(node.arguments.begin(), node.arguments.end(),
                                      [&](const Expr& argument) { return argument.type() == node.type; });
  std::string_view name = node.callee.name;
  if (node.type.code == DType::f32 && name.ends_with('f')) name.remove_suffix(1);
  CodePtr code;
  if (same_types && node.type.is_float()) {
    const std::optional<MathFunction> function = find_math(name);
    if (function) code = compile_math(node, *function, arguments);
    if (name == "roundeven")
      code = compile_float_call(node.type.code, {.unary = [](double x) { return std::nearbyint(x); }}, arguments);
  }
  if (code == nullptr)
    throw InterpreterError("the interpreter does not know the external function '" + node.callee.name + "'");
  return code;
}

}  // namespace

CodePtr compile_call(const Call& node, std::vector<CodePtr> arguments) {
  switch (node.callee.op) {
    case CallOp::math: return compile_math(node, node.callee.math, arguments);
    case CallOp::external: return compile_external(node, arguments);
    case CallOp::bitcast: return std::make_unique<BitcastCode>(std::move(arguments[0]));
    case CallOp::dot: return compile_dot(node, std::move(arguments));
    case CallOp::scale:
      return compile_float_call(node.type.code, {.binary = [](double x, double n) { return x * std::exp2(n); }},
                                arguments);
    case CallOp::intrinsic:
    case CallOp::shuffle_xor:
    case CallOp::barrier:
    case CallOp::prefetch:
    case CallOp::commit_copies:
    case CallOp::wait_copies:
    case CallOp::address_of: break;
  }
  throw InterpreterError("the interpreter cannot compute '" + to_text(node.callee) + "' as a value");
}

}  // namespace ferry::ir::interp
