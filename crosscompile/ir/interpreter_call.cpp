// Math functions. float32 computes in double and rounds, which is as good as correctly rounded. Generated code may
// differ from this oracle by a few ulp.
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/interpreter_code.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ferry::ir::interp {
namespace {

using UnaryMath = double (*)(double);
using BinaryMath = double (*)(double, double);

struct UnaryEntry {
  const char* name;
  UnaryMath function;
};
struct BinaryEntry {
  const char* name;
  BinaryMath function;
};

constexpr UnaryEntry kUnaryMath[] = {
    {"abs", [](double x) { return std::fabs(x); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"exp2", [](double x) { return std::exp2(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }},
    {"log1p", [](double x) { return std::log1p(x); }},
    {"expm1", [](double x) { return std::expm1(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"rsqrt", [](double x) { return 1.0 / std::sqrt(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"asin", [](double x) { return std::asin(x); }},
    {"acos", [](double x) { return std::acos(x); }},
    {"atan", [](double x) { return std::atan(x); }},
    {"sigmoid", [](double x) { return 1.0 / (1.0 + std::exp(-x)); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"round", [](double x) { return std::round(x); }},
    {"roundeven", [](double x) { return std::nearbyint(x); }},
    {"trunc", [](double x) { return std::trunc(x); }},
};
constexpr BinaryEntry kBinaryMath[] = {
    {"atan2", [](double x, double y) { return std::atan2(x, y); }},
    {"pow", [](double x, double y) { return std::pow(x, y); }},
    {"fmod", [](double x, double y) { return std::fmod(x, y); }},
    {"scale", [](double x, double y) { return x * std::exp2(y); }},
};

// Matches the C library's names for float functions too, which mean the same.
bool names(const std::string& called, const char* known, Type type) {
  return called == known || (type.code == DType::f32 && called == known + std::string("f"));
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

CodePtr compile_float_call(const Call& node, std::vector<CodePtr>& arguments) {
  return with_dtype(node.type.code, [&](auto type) -> CodePtr {
    constexpr DType kType = decltype(type)::value;
    if constexpr (is_float(kType)) {
      for (const UnaryEntry& entry : kUnaryMath) {
        if (arguments.size() == 1 && names(node.name, entry.name, node.type)) {
          return std::make_unique<UnaryCall<kType>>(std::move(arguments[0]), entry.function);
        }
      }
      for (const BinaryEntry& entry : kBinaryMath) {
        if (arguments.size() == 2 && names(node.name, entry.name, node.type)) {
          return std::make_unique<BinaryCall<kType>>(std::move(arguments[0]), std::move(arguments[1]), entry.function);
        }
      }
      if (arguments.size() == 3 && names(node.name, "fma", node.type))
        return std::make_unique<FmaCall<kType>>(arguments);
    }
    return nullptr;
  });
}

CodePtr compile_int_call(const Call& node, std::vector<CodePtr>& arguments) {
  IntMath function = IntMath::abs;
  if (node.name == "popcount") {
    function = IntMath::popcount;
  } else if (node.name == "clz") {
    function = IntMath::clz;
  } else if (node.name != "abs") {
    return nullptr;
  }
  return with_dtype(node.type.code, [&](auto type) -> CodePtr {
    constexpr DType kType = decltype(type)::value;
    if constexpr (is_signed_int(kType) || is_unsigned_int(kType)) {
      return std::make_unique<IntCall<kType>>(std::move(arguments[0]), function);
    }
    return nullptr;
  });
}

}  // namespace

CodePtr compile_call(const Call& node, std::vector<CodePtr> arguments) {
  if (node.name == "bitcast") return std::make_unique<BitcastCode>(std::move(arguments[0]));
  if (node.name == "dot") return compile_dot(node, std::move(arguments));
  const bool same_types = std::all_of(node.arguments.begin(), node.arguments.end(),
                                      [&](const Expr& argument) { return argument.type() == node.type; });
  CodePtr code;
  if (same_types && node.type.is_float()) code = compile_float_call(node, arguments);
  if (same_types && node.type.is_int()) code = compile_int_call(node, arguments);
  if (code == nullptr)
    throw InterpreterError("the interpreter does not know the external function '" + node.name + "'");
  return code;
}

}  // namespace ferry::ir::interp
