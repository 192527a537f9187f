#include "host/graph/onnx/fold_elements.h"

#include "crosscompile/ir/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "host/graph/onnx/fold_ratios.h"

namespace ferry::graph::onnx {
namespace {

using Folded = std::optional<Element>;

// Constants may be any int64, and sizes are far from both ends (size.h).
constexpr std::int64_t kBeyondSizes = std::int64_t{1} << 62;
bool is_above_sizes(const Size& a) { return a.constant() >= kBeyondSizes; }
bool is_below_sizes(const Size& a) { return a.constant() && *a.constant() <= -kBeyondSizes; }

bool is_less(const Size& a, const Size& b) {
  if (a.constant() && b.constant()) return *a.constant() < *b.constant();
  if (is_above_sizes(b) || is_below_sizes(a)) return true;
  return !is_above_sizes(a) && !is_below_sizes(b) && proves_less(a, b);
}

bool is_at_most(const Size& a, const Size& b) {
  if (a.constant() && b.constant()) return *a.constant() <= *b.constant();
  return is_less(a, b) || (!is_above_sizes(a) && !is_below_sizes(b) && proves_less(a, b + 1));
}

Size least_of(const Size& a, const Size& b) { return is_at_most(a, b) ? a : is_at_most(b, a) ? b : min(a, b); }
Size greatest_of(const Size& a, const Size& b) { return is_at_most(a, b) ? b : is_at_most(b, a) ? a : max(a, b); }

// Operations that give the same in double, once rounded, as in a narrower type; functions such as exp do not.
struct RealFunction {
  Operator op;
  double (*compute)(double a, double b);
};
constexpr RealFunction kRealFunctions[] = {
    {Operator::relu, [](double a, double) { return a < 0 ? 0 : a; }},
    {Operator::abs, [](double a, double) { return std::fabs(a); }},
    {Operator::neg, [](double a, double) { return -a; }},
    {Operator::sqrt, [](double a, double) { return std::sqrt(a); }},
    {Operator::floor, [](double a, double) { return std::floor(a); }},
    {Operator::ceil, [](double a, double) { return std::ceil(a); }},
    {Operator::round, [](double a, double) { return std::nearbyint(a); }},
    {Operator::add, [](double a, double b) { return a + b; }},
    {Operator::sub, [](double a, double b) { return a - b; }},
    {Operator::mul, [](double a, double b) { return a * b; }},
    {Operator::div, [](double a, double b) { return a / b; }},
    {Operator::minimum, [](double a, double b) { return std::isnan(a) || a < b ? a : b; }},
    {Operator::maximum, [](double a, double b) { return std::isnan(a) || a > b ? a : b; }},
};

struct Comparison {
  Operator op;
  bool (*of_reals)(double a, double b);
  Folded (*of_integers)(const Size& a, const Size& b);
};
constexpr Comparison kComparisons[] = {
    {Operator::equal, [](double a, double b) { return a == b; },
     [](const Size& a, const Size& b) { return truth(a == b, proves_different(a, b)); }},
    {Operator::less, [](double a, double b) { return a < b; },
     [](const Size& a, const Size& b) { return truth(is_less(a, b), is_at_most(b, a)); }},
    {Operator::less_equal, [](double a, double b) { return a <= b; },
     [](const Size& a, const Size& b) { return truth(is_at_most(a, b), is_less(b, a)); }},
};

// Rounds towards zero, as ONNX does.
Folded divided(const Size& a, const Size& b, DType) {
  const std::optional<std::int64_t> left = a.constant(), right = b.constant();
  if (right == 0) return std::nullopt;
  if (left && right && *left != std::numeric_limits<std::int64_t>::min()) return Size(*left / *right);
  if (is_above_sizes(a) || is_below_sizes(a) || is_above_sizes(b) || !is_less(0, b)) return std::nullopt;
  return divide_towards_zero(a, b);
}

Folded modulo(const Size& a, const Size& b, DType) {
  const std::optional<std::int64_t> left = a.constant(), right = b.constant();
  if (left && right && *right > 0) {
    const std::int64_t rest = *left % *right;
    return Size(rest < 0 ? rest + *right : rest);
  }
  if ((left && right) || is_above_sizes(a) || is_below_sizes(a) || is_above_sizes(b) || !is_less(0, b))
    return std::nullopt;
  return a - floor_divide(a, b) * b;
}

// The sign of the dividend makes no difference where that has none.
Folded remainder(const Size& a, const Size& b, DType type) {
  return is_at_most(0, a) ? modulo(a, b, type) : std::nullopt;
}

Folded both(const Size& a, const Size& b, DType) {
  return truth(a.constant() == 1 && b.constant() == 1, a.constant() == 0 || b.constant() == 0);
}

Folded either(const Size& a, const Size& b, DType) {
  return truth(a.constant() == 1 || b.constant() == 1, a.constant() == 0 && b.constant() == 0);
}

// Arithmetic on constants, which are any int64, and on what depends on sizes.
struct Arithmetic {
  bool (*overflows)(std::int64_t a, std::int64_t b, std::int64_t* result);  // sets the result modulo 2^64
  Size (*of_sizes)(const Size& a, const Size& b);
};
Folded arithmetic(const Arithmetic& function, const Size& a, const Size& b, DType type) {
  if (!a.constant() || !b.constant()) return function.of_sizes(a, b);
  std::int64_t result = 0;
  const bool overflows = function.overflows(*a.constant(), *b.constant(), &result);
  return overflows && type != DType::i64 ? std::nullopt : Folded(Size(result));
}

Folded sum(const Size& a, const Size& b, DType type) {
  return arithmetic({[](auto x, auto y, auto* result) { return __builtin_add_overflow(x, y, result); },
                     [](const Size& x, const Size& y) { return x + y; }},
                    a, b, type);
}
Folded difference(const Size& a, const Size& b, DType type) {
  return arithmetic({[](auto x, auto y, auto* result) { return __builtin_sub_overflow(x, y, result); },
                     [](const Size& x, const Size& y) { return x - y; }},
                    a, b, type);
}
Folded product(const Size& a, const Size& b, DType type) {
  return arithmetic({[](auto x, auto y, auto* result) { return __builtin_mul_overflow(x, y, result); },
                     [](const Size& x, const Size& y) { return x * y; }},
                    a, b, type);
}
Folded negative(const Size& a, const Size&, DType type) { return difference(0, a, type); }
Folded magnitude(const Size& a, const Size& b, DType type) {
  if (is_at_most(0, a)) return a;
  return is_less(a, 0) ? negative(a, b, type) : Folded(max(a, Size(0) - a));
}

struct IntegerFunction {
  Operator op;
  Folded (*compute)(const Size& a, const Size& b, DType type);
};
constexpr IntegerFunction kIntegerFunctions[] = {
    {Operator::relu, [](const Size& a, const Size&, DType) -> Folded { return greatest_of(a, 0); }},
    {Operator::abs, magnitude},
    {Operator::neg, negative},
    {Operator::logical_not,
     [](const Size& a, const Size&, DType) { return truth(a.constant() == 0, a.constant() == 1); }},
    {Operator::add, sum},
    {Operator::sub, difference},
    {Operator::mul, product},
    {Operator::div, divided},
    {Operator::modulo, modulo},
    {Operator::remainder, remainder},
    {Operator::minimum, [](const Size& a, const Size& b, DType) -> Folded { return least_of(a, b); }},
    {Operator::maximum, [](const Size& a, const Size& b, DType) -> Folded { return greatest_of(a, b); }},
    {Operator::logical_and, both},
    {Operator::logical_or, either},
};

template <class Table>
auto find_row(const Table& table, Operator op) {
  const auto found = std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return row.op == op; });
  return found == std::end(table) ? nullptr : &*found;
}

Folded fold_reals(Operator op, std::span<const Element> operands, DType type) {
  const double a = std::get<double>(operands[0]);
  const double b = operands.size() > 1 ? std::get<double>(operands[1]) : 0;
  if (const auto* comparison = find_row(kComparisons, op)) return Size(comparison->of_reals(a, b) ? 1 : 0);
  const auto* function = find_row(kRealFunctions, op);
  return function == nullptr ? std::nullopt : Folded(rounded(type, function->compute(a, b)));
}

Folded fold_integers(Operator op, const Size& a, const Size& b, DType type) {
  if (const auto* comparison = find_row(kComparisons, op)) return comparison->of_integers(a, b);
  const auto* function = find_row(kIntegerFunctions, op);
  return function == nullptr ? std::nullopt : function->compute(a, b, type);
}

Folded fold_cast(const Element& operand, DType to) {
  if (const auto* real = std::get_if<double>(&operand)) {
    if (is_float(to)) return rounded(to, *real);
    if (to == DType::boolean) return Size(*real != 0 ? 1 : 0);
    const bool is_small = std::fabs(*real) < 0x1p62;
    return is_small ? Folded(Size(static_cast<std::int64_t>(*real))) : std::nullopt;
  }
  if (const auto* ratio = std::get_if<Ratio>(&operand)) return cast_ratio(*ratio, to);
  const auto& integer = std::get<Size>(operand);
  const std::optional<std::int64_t> number = integer.constant();
  if (to == DType::boolean) return truth(number ? *number != 0 : proves_different(integer, 0), number == 0);
  if (!is_float(to)) return integer;
  return number ? Folded(rounded(to, ir::int_to_float(DType::i64, *number, to))) : cast_ratio({integer}, to);
}

Folded compute(Operator op, std::span<const Element> operands, DType type, DType result) {
  if (op == Operator::cast) return fold_cast(operands[0], result);
  if (op == Operator::where) {
    const std::optional<std::int64_t> condition = std::get<Size>(operands[0]).constant();
    return condition ? std::optional(operands[*condition != 0 ? 1 : 2]) : std::nullopt;
  }
  const bool has_ratio =
      std::ranges::any_of(operands, [](const Element& each) { return std::holds_alternative<Ratio>(each); });
  if (has_ratio) return fold_ratios(op, operands, type);
  if (is_float(type)) return fold_reals(op, operands, type);
  return fold_integers(op, std::get<Size>(operands[0]), operands.size() > 1 ? std::get<Size>(operands[1]) : Size(0),
                       type);
}

}  // namespace

std::optional<Element> truth(bool yes, bool no) {
  if (yes) return Size(1);
  return no ? Folded(Size(0)) : std::nullopt;
}

bool fits(std::int64_t value, DType dtype) {
  const auto bits = static_cast<int>(dtype_bytes(dtype)) * 8;
  if (dtype == DType::boolean) return value == 0 || value == 1;
  if (bits == 64) return !is_unsigned_int(dtype) || value >= 0;
  if (is_unsigned_int(dtype)) return value >= 0 && value >> bits == 0;
  return value >= -(std::int64_t{1} << (bits - 1)) && value < std::int64_t{1} << (bits - 1);
}

Element element_of(const Known& known, std::size_t index) {
  if (!known.reals.empty()) return known.reals[index];
  if (!known.ratios.empty()) return known.ratios[index];
  return known.integers[index];
}

std::optional<Element> fold_element(Operator op, std::span<const Element> operands, DType type, DType result) {
  Folded value = compute(op, operands, type, result);
  // Where the type would wrap, the operation is left to the network.
  const auto* integer = value ? std::get_if<Size>(&*value) : nullptr;
  if (integer != nullptr && integer->constant() && !fits(*integer->constant(), result)) return std::nullopt;
  return value;
}

}  // namespace ferry::graph::onnx
