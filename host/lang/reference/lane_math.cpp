// The functions of math.def over lanes. Each value is computed in double and rounded to the type, narrow types through
// float32, which is more accurate than any kernel needs to be.
#include "host/lang/reference/lanes.h"

#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/error.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace ferry::lang {
namespace {

double round_result(DType type, double value) {
  if (ir::Type(type).is_narrow_float()) return ir::round_to(type, static_cast<float>(value));
  return ir::round_to(type, value);
}

}  // namespace

void apply_math(ir::RealFunction function, const Lanes& a, const Lanes* b, const Lanes* c, Lanes& out, std::size_t n) {
  // Kernels may be off by 4 ulp, that is, 8 half ulps.
  const double unit = 8 * unit_roundoff(out.type), least = smallest_error(out.type);
  const auto value = [](const Lanes* lanes, std::size_t i) { return lanes == nullptr ? 0 : lanes->real[i]; };
  const auto error = [](const Lanes* lanes, std::size_t i) {
    return lanes == nullptr || lanes->exact ? 0 : lanes->error[i];
  };
  for (std::size_t i = 0; i < n; ++i) {
    const double x = a.real[i], y = value(b, i), z = value(c, i);
    const double result = function(x, y, z);
    out.real[i] = round_result(out.type, result);
    const double ex = error(&a, i), ey = error(b, i), ez = error(c, i);
    double carried = 0;
    // Widens the error by the function's value at one end of an argument's error interval.
    const auto see = [&](double moved) {
      const double apart = std::fabs(moved - result);
      if (!(apart <= carried))
        carried = std::isnan(apart) && std::isnan(moved) != std::isnan(result) ? HUGE_VAL : std::fmax(apart, carried);
    };
    if (ex + ey + ez > 0) {
      for (const double dx : {-ex, ex}) {
        for (const double dy : {-ey, ey}) {
          see(function(x + dx, y + dy, z - ez));
          see(function(x + dx, y + dy, z + ez));
        }
      }
    }
    out.error[i] = carried + unit * std::fabs(out.real[i]) + least;
  }
  if (out.notices_exact) make_errors_infinite(out, n);
}

void apply_integer_function(ir::MathFunction function, const Lanes& a, Lanes& out, std::size_t n) {
  const int bits = static_cast<int>(dtype_bytes(a.type)) * 8;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t value = a.integer[i];
    const std::uint64_t low = static_cast<std::uint64_t>(value) & mask;
    if (function == ir::MathFunction::abs) {
      out.integer[i] =
          value < 0 && !is_unsigned_int(a.type) ? ir::apply_int(ir::BinaryOp::sub, a.type, 0, value) : value;
    } else if (function == ir::MathFunction::popcount) {
      out.integer[i] = std::popcount(low);
    } else if (function == ir::MathFunction::clz) {
      out.integer[i] = std::countl_zero(low) - (64 - bits);
    } else {
      throw InternalError("reference: no function '" + to_text(function) + "' on integers");
    }
  }
  if (!out.exact) out.error = a.error;
}

namespace {

// Returns the bits of a value in its storage type.
std::uint64_t bits_of(DType type, double real, std::int64_t integer) {
  switch (type) {
    case DType::f16: return f64_to_f16(real);
    case DType::bf16: return f64_to_bf16(real);
    case DType::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(real));
    case DType::f64: return std::bit_cast<std::uint64_t>(real);
    default: return static_cast<std::uint64_t>(integer);
  }
}

}  // namespace

void apply_bitcast(const Lanes& a, Lanes& out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t bits = bits_of(a.type, a.real[i], a.integer[i]);
    switch (out.type) {
      case DType::f16: out.real[i] = f16_to_f32(static_cast<std::uint16_t>(bits)); break;
      case DType::bf16: out.real[i] = bf16_to_f32(static_cast<std::uint16_t>(bits)); break;
      case DType::f32: out.real[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits)); break;
      case DType::f64: out.real[i] = std::bit_cast<double>(bits); break;
      default: out.integer[i] = ir::wrap(out.type, static_cast<std::int64_t>(bits)); break;
    }
  }
}

}  // namespace ferry::lang
