#include "tests/fuzz/cases/expression_generator.h"

#include <limits>

namespace ferry::fuzz {

namespace {

Node node(std::string text, DType type, std::vector<Node> parts) {
  Node made{std::move(text), type, std::move(parts)};
  for (const Node& part : made.parts) made.exact = made.exact && part.exact;
  return made;
}

// Makes a floating-point operation whose result is rounded.
Node rounded(std::string text, DType type, std::vector<Node> parts) {
  Node made = node(std::move(text), type, std::move(parts));
  made.exact = false;
  return made;
}

// The numbers of an integer type at the ends of its range, in text that stays within it.
std::string extreme(Random& random, DType type) {
  const int bits = static_cast<int>(dtype_bytes(type)) * 8;
  const bool is_unsigned = is_unsigned_int(type);
  const std::uint64_t most = is_unsigned ? ~std::uint64_t{0} >> (64 - bits) : ~std::uint64_t{0} >> (65 - bits);
  const std::uint64_t magnitude = random.of<std::uint64_t>({most, most - 6, most / 2 + 1, most / 3});
  const std::string text = std::to_string(magnitude) + (type == DType::u64 ? "ul" : "");
  return !is_unsigned && random.chance(50) ? "-" + text : text;
}

}  // namespace

std::int64_t large_scalar(Random& random) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return random.of<std::int64_t>({0, 1, -3, 40, kMost, kMost - 5, -kMost - 1, -kMost + 7, kMost / 2, kMost / 3 + 1});
}

std::string wrapping_index(Random& random, const std::string& axis) {
  const std::string large = random.of<std::string>({"100000000000000000", "6364136223846793005", "4611686018427387904",
                                                    "9223372036854775807", "4294967297", "1000000000000000000"});
  const std::string scalar = kLargeScalar;
  return random.of<std::string>({"(" + axis + "*" + large + ")", "(" + axis + "+" + scalar + ")",
                                 "(" + axis + "*" + large + "+" + scalar + ")", "(" + scalar + "-" + axis + ")",
                                 "(" + axis + "*" + scalar + ")", "(" + axis + "+" + large + ")",
                                 "(max(" + axis + "," + scalar + ")*2)", "(" + scalar + "*3-" + axis + ")"});
}

DType random_integer(Random& random) {
  return random.of<DType>(
      {DType::i8, DType::i16, DType::i32, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64});
}

DType random_type(Random& random) {
  if (random.chance(45))
    return random.of<DType>({DType::f32, DType::f32, DType::f32, DType::f64, DType::f16, DType::bf16});
  if (random.chance(12)) return DType::boolean;
  return random_integer(random);
}

Node ExpressionGenerator::literal(DType type) {
  if (type == DType::boolean) return {random_.chance(50) ? "true" : "false", type};
  const std::string name = type_text(type);
  if (is_float(type))
    return {name + "(" + random_.of<std::string>({"0.5", "1", "2", "-1.5", "0", "0.25", "3"}) + ")", type};
  if (!is_float(type) && random_.chance(8)) return {name + "(" + extreme(random_, type) + ")", type};
  if (is_unsigned_int(type)) return {name + "(" + std::to_string(random_.between(0, 9)) + ")", type};
  return {name + "(" + std::to_string(random_.between(-5, 9)) + ")", type};
}

Node ExpressionGenerator::leaf(DType type, bool exact) {
  if (random_.chance(70)) return read_(type, exact);
  if (!axes_.empty() && type != DType::boolean && random_.chance(40))
    return {std::string(type_text(type)) + "(" + random_.of(axes_) + ")", type};
  return literal(type);
}

Node ExpressionGenerator::expression(DType type, bool exact, int depth) {
  if (depth <= 0 || random_.chance(15)) return leaf(type, exact);
  if (random_.chance(12)) return choice(type, exact, depth - 1);
  if (random_.chance(15)) return converted(type, exact, depth - 1);
  if (type == DType::boolean) return condition(depth - 1);
  return is_float(type) ? real(type, exact, depth - 1) : integer(type, depth - 1);
}

Node ExpressionGenerator::integer(DType type, int depth) {
  const auto part = [&] { return expression(type, true, depth); };
  if (random_.chance(18)) {
    std::vector<std::string> unary = {"(~$0)", "abs($0)", "popcount($0)", "clz($0)", "(-$0)"};
    return node(random_.of(unary), type, {part()});
  }
  if (random_.chance(8)) return node("clamp($0, $1, $2)", type, {part(), literal(type), literal(type)});
  // A divisor that is 0 where the shift is by the width or more.
  if (random_.chance(6)) {
    const auto operation = random_.of<std::string>(
        {"($0 / ($1 >> $2))", "($0 / ($1 << $2))", "($0 % ($1 >> $2))", "($0 / max($1 >> $2, $3))"});
    Node left = part(), shifted = random_.chance(60) ? literal(type) : part();
    return node(operation, type, {std::move(left), std::move(shifted), part(), literal(type)});
  }
  const auto operation = random_.of<std::string>({"($0 + $1)", "($0 + $1)", "($0 - $1)", "($0 * $1)", "($0 * $1)",
                                                  "($0 / $1)", "($0 % $1)", "($0 & $1)", "($0 | $1)", "($0 ^ $1)",
                                                  "($0 << $1)", "($0 >> $1)", "min($0, $1)", "max($0, $1)"});
  Node left = part();
  // A constant divisor or shift amount takes different paths through the compiler.
  Node right = random_.chance(30) ? literal(type) : part();
  return node(operation, type, {std::move(left), std::move(right)});
}

Node ExpressionGenerator::real(DType type, bool exact, int depth) {
  const auto part = [&] { return expression(type, exact, depth); };
  if (exact) {
    const auto operation = random_.of<std::string>({"(-$0)", "abs($0)", "floor($0)", "trunc($0)", "min($0, $1)",
                                                    "max($0, $1)", "ceil($0)", "round($0)", "round_even($0)"});
    if (operation.find("$1") == std::string::npos) return node(operation, type, {part()});
    Node left = part();
    return node(operation, type, {std::move(left), part()});
  }
  if (random_.chance(15)) return math(type, depth);
  const auto operation =
      random_.of<std::string>({"($0 + $1)", "($0 + $1)", "($0 - $1)", "($0 * $1)", "($0 * $1)", "min($0, $1)",
                               "max($0, $1)", "($0 / max(abs($1), $2))", "(-$0)", "abs($0)", "clamp($0, $2, $3)"});
  const Node half{std::string(type_text(type)) + "(0.5)", type}, three{std::string(type_text(type)) + "(3)", type};
  Node left = part();
  Node right = operation.find("$1") == std::string::npos ? half : part();
  return rounded(operation, type, {std::move(left), std::move(right), half, three});
}

Node ExpressionGenerator::math(DType type, int depth) {
  const Node four{std::string(type_text(type)) + "(4)", type};
  const auto operation = random_.of<std::string>({"sqrt(abs($0))",
                                                  "exp(min($0, $1))",
                                                  "tanh($0)",
                                                  "sigmoid($0)",
                                                  "erf($0)",
                                                  "sin(clamp($0, -$1, $1))",
                                                  "cos(clamp($0, -$1, $1))",
                                                  "log(abs($0) + $1)",
                                                  "atan($0)",
                                                  "fma($0, $1, $0)",
                                                  "exp2(min($0, $1))",
                                                  "log2(abs($0) + $1)",
                                                  "log1p(abs($0))",
                                                  "expm1(min($0, $1))",
                                                  "rsqrt(abs($0) + $1)",
                                                  "tan(clamp($0, -$1, $1) / ($1 + $1))",
                                                  "sinh(clamp($0, -$1, $1))",
                                                  "cosh(clamp($0, -$1, $1))",
                                                  "asin(clamp($0, -$1, $1) / ($1 + $1))",
                                                  "acos(clamp($0, -$1, $1) / ($1 + $1))",
                                                  "atan2($0, $1)",
                                                  "pow(abs($0) + $1, $1)",
                                                  "gelu($0)"});
  return rounded(operation, type, {expression(type, false, depth), four});
}

// Compares index arithmetic that may wrap.
Node ExpressionGenerator::index_condition() {
  const std::string axis = random_.of(axes_), other = random_.of(axes_);
  const std::string left = wrapping_index(random_, axis);
  const std::string right =
      random_.chance(40)
          ? wrapping_index(random_, other)
          : random_.of<std::string>({other, "0", kLargeScalar, "5", other + "-3", "1000000000000000000"});
  const auto operation = random_.of<std::string>({" < ", " <= ", " > ", " >= ", " == ", " != "});
  return {"(" + left + operation + right + ")", DType::boolean};
}

Node ExpressionGenerator::condition(int depth) {
  if (!axes_.empty() && random_.chance(8)) return index_condition();
  if (random_.chance(25)) {
    Node left = expression(DType::boolean, true, depth);
    const auto operation = random_.of<std::string>({"($0 && $1)", "($0 || $1)", "(!$0)"});
    if (operation == "(!$0)") return node(operation, DType::boolean, {std::move(left)});
    return node(operation, DType::boolean, {std::move(left), expression(DType::boolean, true, depth)});
  }
  DType type = random_type(random_);
  if (type == DType::boolean) type = DType::i32;
  const auto operation =
      random_.of<std::string>({"($0 < $1)", "($0 <= $1)", "($0 > $1)", "($0 >= $1)", "($0 == $1)", "($0 != $1)"});
  Node left = expression(type, true, depth);
  return node(operation, DType::boolean, {std::move(left), expression(type, true, depth)});
}

Node ExpressionGenerator::choice(DType type, bool exact, int depth) {
  Node if_so = expression(type, exact, depth), else_so = expression(type, exact, depth);
  return node(random_.chance(50) ? "select($0, $1, $2)" : "($0 ? $1 : $2)", type,
              {condition(depth - 1), std::move(if_so), std::move(else_so)});
}

Node ExpressionGenerator::converted(DType type, bool exact, int depth) {
  const DType from = random_type(random_);
  // Converting a rounded float to an integer gives a result that depends on the rounding.
  const bool needs_exact = exact || !is_float(type);
  return node(std::string(type_text(type)) + "($0)", type, {expression(from, needs_exact, depth)});
}

}  // namespace ferry::fuzz
