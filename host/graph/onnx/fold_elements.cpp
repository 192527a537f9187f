#include "host/graph/onnx/fold_elements.h"

#include "crosscompile/ir/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace ferry::graph::onnx {
namespace {

using Folded = std::optional<Element>;

Folded truth(bool yes, bool no) {  // nothing: it depends on sizes
  if (yes) return Size(1);
  return no ? Folded(Size(0)) : std::nullopt;
}

// Constants may be any int64, of which those near the greatest have no size after them.
bool proves_at_most(const Size& a, const Size& b) {
  if (a.constant() && b.constant()) return !proves_less(b, a);
  return proves_less(a, b + 1);
}

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
     [](const Size& a, const Size& b) { return truth(proves_less(a, b), proves_at_most(b, a)); }},
    {Operator::less_equal, [](double a, double b) { return a <= b; },
     [](const Size& a, const Size& b) { return truth(proves_at_most(a, b), proves_less(b, a)); }},
};

// Rounds towards zero, as ONNX does, and thus like a Size where neither side is negative.
Folded divided(const Size& a, const Size& b) {
  const std::optional<std::int64_t> left = a.constant(), right = b.constant();
  if (right == 0) return std::nullopt;
  if (left && right && *left != std::numeric_limits<std::int64_t>::min()) return Size(*left / *right);
  if (!proves_less(-1, a) || !proves_less(0, b)) return std::nullopt;
  return floor_divide(a, b);
}

Folded modulo(const Size& a, const Size& b) {
  const std::optional<std::int64_t> left = a.constant(), right = b.constant();
  if (!left || !right || *right <= 0) return std::nullopt;
  const std::int64_t rest = *left % *right;
  return Size(rest < 0 ? rest + *right : rest);
}

Folded both(const Size& a, const Size& b) {
  return truth(a.constant() == 1 && b.constant() == 1, a.constant() == 0 || b.constant() == 0);
}

Folded either(const Size& a, const Size& b) {
  return truth(a.constant() == 1 || b.constant() == 1, a.constant() == 0 && b.constant() == 0);
}

struct IntegerFunction {
  Operator op;
  Folded (*compute)(const Size& a, const Size& b);
};
constexpr IntegerFunction kIntegerFunctions[] = {
    {Operator::relu, [](const Size& a, const Size&) -> Folded { return max(a, 0); }},
    {Operator::abs, [](const Size& a, const Size&) -> Folded { return max(a, Size(0) - a); }},
    {Operator::neg, [](const Size& a, const Size&) -> Folded { return Size(0) - a; }},
    {Operator::logical_not, [](const Size& a, const Size&) { return truth(a.constant() == 0, a.constant() == 1); }},
    {Operator::add, [](const Size& a, const Size& b) -> Folded { return a + b; }},
    {Operator::sub, [](const Size& a, const Size& b) -> Folded { return a - b; }},
    {Operator::mul, [](const Size& a, const Size& b) -> Folded { return a * b; }},
    {Operator::div, divided},
    {Operator::modulo, modulo},
    {Operator::minimum, [](const Size& a, const Size& b) -> Folded { return min(a, b); }},
    {Operator::maximum, [](const Size& a, const Size& b) -> Folded { return max(a, b); }},
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

Folded fold_integers(Operator op, const Size& a, const Size& b) {
  if (const auto* comparison = find_row(kComparisons, op)) return comparison->of_integers(a, b);
  const auto* function = find_row(kIntegerFunctions, op);
  return function == nullptr ? std::nullopt : function->compute(a, b);
}

bool fits(std::int64_t value, DType dtype) {
  const auto bits = static_cast<int>(dtype_bytes(dtype)) * 8;
  if (dtype == DType::boolean) return value == 0 || value == 1;
  if (bits == 64) return !is_unsigned_int(dtype) || value >= 0;
  if (is_unsigned_int(dtype)) return value >= 0 && value >> bits == 0;
  return value >= -(std::int64_t{1} << (bits - 1)) && value < std::int64_t{1} << (bits - 1);
}

Folded fold_cast(const Element& operand, DType to) {
  if (const auto* real = std::get_if<double>(&operand)) {
    if (is_float(to)) return rounded(to, *real);
    if (to == DType::boolean) return Size(*real != 0 ? 1 : 0);
    const bool is_small = std::fabs(*real) < 0x1p62;
    return is_small ? Folded(Size(static_cast<std::int64_t>(*real))) : std::nullopt;
  }
  const auto& integer = std::get<Size>(operand);
  const std::optional<std::int64_t> number = integer.constant();
  if (to == DType::boolean) return truth(number ? *number != 0 : proves_different(integer, 0), number == 0);
  if (!is_float(to)) return integer;
  return number ? Folded(rounded(to, ir::int_to_float(DType::i64, *number, to))) : std::nullopt;
}

Folded compute(Operator op, std::span<const Element> operands, DType type, DType result) {
  if (op == Operator::cast) return fold_cast(operands[0], result);
  if (op == Operator::where) {
    const std::optional<std::int64_t> condition = std::get<Size>(operands[0]).constant();
    return condition ? std::optional(operands[*condition != 0 ? 1 : 2]) : std::nullopt;
  }
  if (is_float(type)) return fold_reals(op, operands, type);
  return fold_integers(op, std::get<Size>(operands[0]), operands.size() > 1 ? std::get<Size>(operands[1]) : Size(0));
}

}  // namespace

Element element_of(const Known& known, std::size_t index) {
  if (!known.reals.empty()) return known.reals[index];
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
