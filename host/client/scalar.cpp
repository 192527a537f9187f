#include "host/client/scalar.h"

#include "module/manifest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace ferry::session {

namespace {

using Int128 = __int128;

// Whether an integer parameter of this type can represent the value.
bool fits(DType type, Int128 value) {
  if (type == DType::boolean) return value == 0 || value == 1;
  const int bits = static_cast<int>(dtype_bytes(type)) * 8;
  const Int128 limit = Int128{1} << (is_signed_int(type) ? bits - 1 : bits);
  return value >= (is_signed_int(type) ? -limit : 0) && value < limit;
}

std::uint64_t float_bits(DType type, double value) {
  if (type == DType::f64) return std::bit_cast<std::uint64_t>(value);
  if (type == DType::f16) return f64_to_f16(value);
  return f64_to_bf16(value);
}

}  // namespace

std::uint64_t scalar_bits(const FunctionInfo& function, std::size_t parameter, const Argument::Scalar& value) {
  const ParameterInfo& info = function.parameters[parameter];
  const double real = std::visit([](auto number) { return static_cast<double>(number); }, value);
  if (is_float(info.dtype)) {
    // Convert directly to float, to round only once.
    if (info.dtype == DType::f32)
      return std::bit_cast<std::uint32_t>(std::visit([](auto number) { return static_cast<float>(number); }, value));
    return float_bits(info.dtype, real);
  }
  const bool whole = !std::holds_alternative<double>(value) || (std::abs(real) <= 0x1p64 && real == std::floor(real));
  const Int128 number = whole ? std::visit([](auto each) { return static_cast<Int128>(each); }, value) : 0;
  if (!whole || !fits(info.dtype, number)) {
    const std::string got = std::visit([](auto each) { return std::to_string(each); }, value);
    throw Error(ErrorCode::invalid_argument, function.name + ": argument " + std::to_string(parameter + 1) + " '" +
                                                 info.name + "': expected a number that fits " +
                                                 dtype_name(info.dtype) + ", got " + got);
  }
  const std::uint64_t bits = static_cast<std::uint64_t>(number);
  const std::size_t bytes = dtype_bytes(info.dtype);
  return bytes == 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace ferry::session
