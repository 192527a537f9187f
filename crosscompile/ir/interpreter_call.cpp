// Math functions, by the table that the reference evaluation uses too (math_eval.h).
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/interpreter_code.h"
#include "crosscompile/ir/math_eval.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ferry::ir::interp {
namespace {

template <DType D>
struct RealCall final : Code {
  CodePtr x, y;  // y is null where there is one argument
  RealFunction function;
  RealCall(std::vector<CodePtr>& a, RealFunction f)
      : x(std::move(a[0])), y(a.size() == 2 ? std::move(a[1]) : nullptr), function(f) {}
  Value eval(Frame& frame, std::uint32_t lane) const override {
    using E = Element<D>;
    const double a = static_cast<double>(E::get(x->eval(frame, lane)));
    const double b = y == nullptr ? 0 : static_cast<double>(E::get(y->eval(frame, lane)));
    return E::put(static_cast<typename E::Compute>(function(a, b, 0)));
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

CodePtr compile_float_call(DType type, RealFunction function, std::vector<CodePtr>& arguments) {
  return with_dtype(type, [&](auto known) -> CodePtr {
    constexpr DType kType = decltype(known)::value;
    if constexpr (is_float(kType)) {
      if (function != nullptr) return std::make_unique<RealCall<kType>>(arguments, function);
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
  return compile_float_call(type, real_function(function), arguments);
}

// Knows the C library's functions of floats.
CodePtr compile_external(const Call& node, std::vector<CodePtr>& arguments) {
  const bool same_types = std::all_of(node.arguments.begin(), node.arguments.end(),
                                      [&](const Expr& argument) { return argument.type() == node.type; });
  CodePtr code;
  const std::optional<MathFunction> function = find_c_math(node.callee.name, node.type.code);
  if (same_types && node.type.is_float() && function && signature_of(*function).arguments == arguments.size())
    code = compile_math(node, *function, arguments);
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
      return compile_float_call(node.type.code, [](double x, double n, double) { return x * std::exp2(n); }, arguments);
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
