#include "host/lang/reference/lanes.h"

#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/error.h"

#include <cmath>

namespace ferry::lang {
namespace {

using ir::BinaryOp;

// Float32 operations are computed in double and rounded again, which gives the correctly rounded float32.
template <class Round, class Operation>
void float_loop(const Lanes& a, const Lanes& b, Lanes& out, std::size_t n, const Round& round,
                const Operation& operation) {
  for (std::size_t i = 0; i < n; ++i) out.real[i] = round(operation(a.real[i], b.real[i]));
}

template <class Operation>
void float_values(const Lanes& a, const Lanes& b, Lanes& out, std::size_t n, const Operation& operation) {
  if (out.type == DType::f64) {
    float_loop(a, b, out, n, [](double x) { return x; }, operation);
  } else if (out.type == DType::f32) {
    float_loop(a, b, out, n, [](double x) { return static_cast<double>(static_cast<float>(x)); }, operation);
  } else {
    const DType type = out.type;
    float_loop(a, b, out, n, [type](double x) { return ir::round_to(type, static_cast<float>(x)); }, operation);
  }
}

// Whether x op y is `result`, without rounding. No division is, since a kernel may multiply by the reciprocal.
bool is_exact(BinaryOp op, DType type, double x, double y, double result) {
  if (!std::isfinite(x) || !std::isfinite(y)) return true;
  if (!std::isfinite(result)) return false;
  if (result != 0 && std::fabs(result) < smallest_normal(type)) return false;
  if (op == BinaryOp::mul) return result == 0 ? x == 0 || y == 0 : std::fma(x, y, -result) == 0;
  if (op != BinaryOp::add && op != BinaryOp::sub) return false;
  // The rounding error of an addition is itself a float64 (D. Knuth, TwoSum).
  const double term = op == BinaryOp::sub ? -y : y, sum = x + term, other = sum - x;
  return sum == result && (x - (sum - other)) + (term - other) == 0;
}

// Whether the result is infinite because an operand is, whatever the other one is within its error: the infinity of a
// mask, say. That of an overflow has an infinite error.
bool stays_infinite(BinaryOp op, double x, double error_x, double y, double error_y, double result) {
  if (!std::isinf(result) || !std::isfinite(error_x) || !std::isfinite(error_y)) return false;
  if (op == BinaryOp::add || op == BinaryOp::sub) return std::isinf(x) || std::isinf(y);
  if (op == BinaryOp::mul) return std::isinf(x) ? std::fabs(y) > error_y : std::isinf(y) && std::fabs(x) > error_x;
  return op == BinaryOp::div && std::isinf(x) && std::fabs(y) > error_y;
}

void float_errors(BinaryOp op, const Lanes& a, const Lanes& b, Lanes& out, std::size_t n) {
  const double unit = unit_roundoff(out.type), least = smallest_error(out.type);
  const bool operands_exact = a.exact && b.exact;
  const auto are_exact = [&](std::size_t i) { return operands_exact || (a.error[i] == 0 && b.error[i] == 0); };
  for (std::size_t i = 0; i < n; ++i) {
    if (out.notices_exact && are_exact(i) && is_exact(op, out.type, a.real[i], b.real[i], out.real[i])) {
      out.error[i] = 0;
      continue;
    }
    const double ea = operands_exact ? 0 : a.error[i], eb = operands_exact ? 0 : b.error[i];
    if (stays_infinite(op, a.real[i], ea, b.real[i], eb, out.real[i])) {
      out.error[i] = 0;
      continue;
    }
    double carried = 0;
    if (!operands_exact) {
      const double x = std::fabs(a.real[i]), y = std::fabs(b.real[i]);
      switch (op) {
        case BinaryOp::mul: carried = x * eb + y * ea + ea * eb; break;
        // If the divisor may be 0, the error is unbounded.
        case BinaryOp::div:
          carried = eb < y ? (ea + std::fabs(out.real[i]) * eb) / (y - eb) : ea + eb > 0 ? HUGE_VAL : 0;
          break;
        case BinaryOp::min:
        case BinaryOp::max: carried = std::fmax(ea, eb); break;
        default: carried = ea + eb; break;
      }
    }
    const bool rounds = op != BinaryOp::min && op != BinaryOp::max;
    out.error[i] = carried + (rounds ? unit * std::fabs(out.real[i]) + least : 0);
  }
  if (out.notices_exact) make_errors_infinite(out, n);
}

void float_binary(BinaryOp op, const Lanes& a, const Lanes& b, Lanes& out, std::size_t n) {
  switch (op) {
    case BinaryOp::add: float_values(a, b, out, n, [](double x, double y) { return x + y; }); break;
    case BinaryOp::sub: float_values(a, b, out, n, [](double x, double y) { return x - y; }); break;
    case BinaryOp::mul: float_values(a, b, out, n, [](double x, double y) { return x * y; }); break;
    case BinaryOp::div: float_values(a, b, out, n, [](double x, double y) { return x / y; }); break;
    case BinaryOp::min: float_values(a, b, out, n, [](double x, double y) { return ir::float_min(x, y); }); break;
    case BinaryOp::max: float_values(a, b, out, n, [](double x, double y) { return ir::float_max(x, y); }); break;
    default: throw InternalError("reference: not an operation on floats");
  }
  if (!out.exact) float_errors(op, a, b, out, n);
}

void float_compare(BinaryOp op, const Lanes& a, const Lanes& b, Lanes& out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out.integer[i] = ir::compare_float(op, a.real[i], b.real[i]);
  if (out.exact) return;
  for (std::size_t i = 0; i < n; ++i) {
    const double both = a.error[i] + b.error[i];
    // An error of 1 means that a correct kernel may decide otherwise.
    out.error[i] = both > 0 && !(std::fabs(a.real[i] - b.real[i]) > both) ? 1 : 0;
  }
}

void int_binary(BinaryOp op, const Lanes& a, const Lanes& b, Lanes& out, std::size_t n) {
  if (a.type == DType::i64 && (op == BinaryOp::add || op == BinaryOp::mul || op == BinaryOp::sub)) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto x = static_cast<std::uint64_t>(a.integer[i]), y = static_cast<std::uint64_t>(b.integer[i]);
      out.integer[i] = static_cast<std::int64_t>(op == BinaryOp::add ? x + y : op == BinaryOp::sub ? x - y : x * y);
    }
  } else {
    const DType type = a.type;
    for (std::size_t i = 0; i < n; ++i) out.integer[i] = ir::apply_int(op, type, a.integer[i], b.integer[i]);
  }
  if (out.exact) return;
  for (std::size_t i = 0; i < n; ++i) {
    const double ea = a.error[i], eb = b.error[i];
    if (op == BinaryOp::mul) {
      out.error[i] = std::fabs(static_cast<double>(a.integer[i])) * eb +
                     std::fabs(static_cast<double>(b.integer[i])) * ea + ea * eb;
    } else if (out.type == DType::boolean) {
      out.error[i] = ea + eb > 0 ? 1 : 0;
    } else {
      out.error[i] = ea + eb;
    }
  }
}

}  // namespace

double unit_roundoff(DType type) {
  switch (type) {
    case DType::f16: return 0x1p-11;
    case DType::bf16: return 0x1p-8;
    case DType::f32: return 0x1p-24;
    case DType::f64: return 0x1p-53;
    default: return 0;
  }
}

double smallest_error(DType type) {
  switch (type) {
    case DType::f16: return 0x1p-25;
    case DType::bf16:
    case DType::f32: return 0x1p-126;
    default: return 0;
  }
}

double smallest_normal(DType type) {
  switch (type) {
    case DType::f16: return 0x1p-14;
    case DType::bf16:
    case DType::f32: return 0x1p-126;
    case DType::f64: return 0x1p-1022;
    default: return 0;
  }
}

void make_errors_infinite(Lanes& out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (std::isnan(out.error[i])) out.error[i] = HUGE_VAL;
}

bool stays_exact(BinaryOp op, const Lanes& a, const Lanes& b) {
  const bool rounds =
      a.is_float() && (op == BinaryOp::add || op == BinaryOp::sub || op == BinaryOp::mul || op == BinaryOp::div);
  return a.exact && b.exact && !rounds;
}

void apply_binary(BinaryOp op, const Lanes& a, const Lanes& b, Lanes& out, std::size_t n) {
  if (!a.is_float()) return int_binary(op, a, b, out, n);
  return ir::is_comparison(op) ? float_compare(op, a, b, out, n) : float_binary(op, a, b, out, n);
}

void apply_unary(ir::UnaryOp op, const Lanes& a, Lanes& out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    switch (op) {
      case ir::UnaryOp::neg:
        out.real[i] = -a.real[i];
        if (!a.is_float()) out.integer[i] = ir::apply_int(BinaryOp::sub, a.type, 0, a.integer[i]);
        break;
      case ir::UnaryOp::bit_not: out.integer[i] = ir::wrap(a.type, ~a.integer[i]); break;
      case ir::UnaryOp::logical_not: out.integer[i] = a.integer[i] == 0; break;
    }
  }
  if (!out.exact) out.error = a.error;
}

bool cast_stays_exact(const Lanes& a, DType to) {
  if (!a.exact) return false;
  if (!ferry::is_float(to)) return true;
  if (!a.is_float()) return to == DType::f64 && a.type != DType::i64 && a.type != DType::u64;
  return to == DType::f64 || (to == DType::f32 && a.type != DType::f64);
}

namespace {

std::int64_t to_integer(DType to, double value) {
  return to == DType::boolean ? value != 0 : ir::float_to_int(value, to);
}

}  // namespace

namespace {

// Whether a cast to a float did not change the value.
bool keeps_value(const Lanes& a, const Lanes& out, std::size_t i) {
  const double value = out.real[i];
  if (!out.is_float()) return false;
  if (a.is_float()) return value == a.real[i] || std::isnan(value);
  if (a.type == DType::u64)
    return value < 0x1p64 && static_cast<std::uint64_t>(value) == static_cast<std::uint64_t>(a.integer[i]);
  return std::fabs(value) < 0x1p63 && static_cast<std::int64_t>(value) == a.integer[i];
}

}  // namespace

void apply_cast(const Lanes& a, Lanes& out, std::size_t n) {
  const DType to = out.type;
  for (std::size_t i = 0; i < n; ++i) {
    if (a.is_float()) {
      if (out.is_float()) {
        out.real[i] = ir::round_to(to, a.real[i]);
      } else {
        out.integer[i] = to_integer(to, a.real[i]);
      }
    } else if (out.is_float()) {
      out.real[i] = ir::int_to_float(a.type, a.integer[i], to);
    } else {
      out.integer[i] = ir::wrap(to, a.integer[i]);
    }
  }
  if (out.exact) return;
  const double unit = unit_roundoff(to), least = smallest_error(to);
  for (std::size_t i = 0; i < n; ++i) {
    const double carried = a.exact ? 0 : a.error[i];
    if (out.notices_exact && carried == 0 && keeps_value(a, out, i)) {
      out.error[i] = 0;
    } else if (out.is_float()) {
      out.error[i] = carried + unit * std::fabs(out.real[i]) + (a.is_float() ? least : 0);
    } else if (a.is_float() && carried > 0) {
      // The integer on the other side of a rounding boundary is equally right.
      const double low = static_cast<double>(to_integer(to, a.real[i] - carried));
      const double high = static_cast<double>(to_integer(to, a.real[i] + carried));
      const double here = static_cast<double>(out.integer[i]);
      out.error[i] = std::fmax(std::fabs(high - here), std::fabs(here - low));
    } else {
      out.error[i] = carried;
    }
  }
  if (out.notices_exact) make_errors_infinite(out, n);
}

void apply_choice(const Lanes& condition, const Lanes& on_true, const Lanes& on_false, Lanes& out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const Lanes& chosen = condition.integer[i] != 0 ? on_true : on_false;
    out.real[i] = chosen.real[i];
    out.integer[i] = chosen.integer[i];
    if (out.exact) continue;
    out.error[i] = chosen.error[i];
    // If a correct kernel may decide otherwise, it may also return the other value.
    if (condition.error[i] > 0) {
      const double apart =
          out.is_float()
              ? std::fabs(on_true.real[i] - on_false.real[i])
              : std::fabs(static_cast<double>(on_true.integer[i]) - static_cast<double>(on_false.integer[i]));
      out.error[i] = std::fmax(on_true.error[i], on_false.error[i]) + apart;
    }
  }
  if (out.notices_exact && !out.exact) make_errors_infinite(out, n);
}

std::int64_t add_dimension(const Lanes& index, std::int64_t extent, std::uint64_t* positions, std::size_t n) {
  std::int64_t outside = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t at = index.integer[i];
    // Sets the sign bit for an index below 0 or beyond the last one. Unsigned, because an arbitrary index may overflow.
    outside |= at | static_cast<std::int64_t>(static_cast<std::uint64_t>(extent) - 1 - static_cast<std::uint64_t>(at));
    positions[i] = positions[i] * static_cast<std::uint64_t>(extent) + static_cast<std::uint64_t>(at);
  }
  return outside;
}

}  // namespace ferry::lang
