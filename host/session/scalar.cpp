#include "host/session/scalar.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace ferry::session {

namespace {

// Whether an integer parameter of this type can hold the value.
bool fits(DType type, std::int64_t value) {
  if (type == DType::boolean) return value == 0 || value == 1;
  const int bits = static_cast<int>(dtype_bytes(type)) * 8;
  if (is_signed_int(type)) {
    if (bits == 64) return true;
    const std::int64_t limit = std::int64_t{1} << (bits - 1);
    return value >= -limit && value < limit;
  }
  return value >= 0 && (bits == 64 || value < (std::int64_t{1} << bits));
}

std::uint64_t float_bits(DType type, double value) {
  if (type == DType::f64) return std::bit_cast<std::uint64_t>(value);
  if (type == DType::f16) return f64_to_f16(value);
  if (type == DType::bf16) return f64_to_bf16(value);
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

}  // namespace

std::uint64_t scalar_bits(const FunctionInfo& function, std::size_t parameter, const Argument::Scalar& value) {
  const ParameterInfo& info = function.parameters[parameter];
  const auto* integer = std::get_if<std::int64_t>(&value);
  const double real = integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
  if (is_float(info.dtype)) return float_bits(info.dtype, real);
  const bool whole = integer != nullptr || (std::abs(real) < 0x1p63 && real == std::floor(real));
  const std::int64_t number = integer != nullptr ? *integer : whole ? static_cast<std::int64_t>(real) : 0;
  if (!whole || !fits(info.dtype, number)) {
    const std::string got = integer != nullptr ? std::to_string(*integer) : std::to_string(real);
    throw RemoteError(ErrorCode::invalid_argument, function.name + ": argument " + std::to_string(parameter + 1) +
                                                       " '" + info.name + "': expected a number that fits " +
                                                       dtype_name(info.dtype) + ", got " + got);
  }
  const std::uint64_t bits = static_cast<std::uint64_t>(number);
  const std::size_t bytes = dtype_bytes(info.dtype);
  return bytes == 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace ferry::session
