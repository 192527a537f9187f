// Casts between any two element types.
#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/interpreter_code.h"

namespace ferry::ir::interp {
namespace {

// Converts double to a narrow type with a single rounding.
template <DType To>
Value put_float(double value) {
  if constexpr (To == DType::f16) {
    return Value::of(f64_to_f16(value));
  } else if constexpr (To == DType::bf16) {
    return Value::of(f64_to_bf16(value));
  } else {
    return Element<To>::put(static_cast<typename Element<To>::Compute>(value));
  }
}

template <DType From, DType To>
struct CastCode final : Code {
  CodePtr value;
  explicit CastCode(CodePtr v) : value(std::move(v)) {}

  Value eval(Frame& frame, std::uint32_t lane) const override {
    const auto from = Element<From>::get(value->eval(frame, lane));
    if constexpr (To == DType::boolean) {
      return Element<To>::put(from != 0);
    } else if constexpr (is_float(From) && is_float(To)) {
      return put_float<To>(static_cast<double>(from));
    } else if constexpr (is_float(From)) {
      return Element<To>::put(static_cast<typename Element<To>::Compute>(float_to_int(static_cast<double>(from), To)));
    } else if constexpr (is_float(To)) {
      return put_float<To>(int_to_float(From, static_cast<std::int64_t>(from), To));
    } else {
      return Element<To>::put(static_cast<typename Element<To>::Compute>(from));
    }
  }
};

}  // namespace

CodePtr compile_cast(DType from, DType to, CodePtr value) {
  return with_dtype(from, [&](auto source) {
    return with_dtype(to, [&](auto target) -> CodePtr {
      return std::make_unique<CastCode<decltype(source)::value, decltype(target)::value>>(std::move(value));
    });
  });
}

}  // namespace ferry::ir::interp
