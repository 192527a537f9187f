#include "ferry/operators.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"

#include <doctest/doctest.h>

#include <limits>

using namespace ferry;
using namespace ferry::ir;

namespace {

std::int64_t folded(const Expr& expr) {
  const std::int64_t* value = as_int(expr);
  REQUIRE_MESSAGE(value != nullptr, "expected the expression to fold to an integer");
  return *value;
}

double folded_float(const Expr& expr) {
  const auto* value = expr.as<FloatImm>();
  REQUIRE_MESSAGE(value != nullptr, "expected the expression to fold to a float");
  return value->value;
}

std::string type_of(const Expr& expr) { return to_text(expr.type()); }

Expr var(const char* name, DType type) { return Var::make(name, type); }
Expr i8(std::int64_t value) { return IntImm::make(DType::i8, value); }

}  // namespace

TEST_CASE("types print as an element name and a number of lanes") {
  CHECK(to_text(Type(DType::f32)) == "f32");
  CHECK(to_text(Type(DType::f32, 8)) == "f32x8");
  CHECK(to_text(kBool) == "bool");
}

TEST_CASE("both sides of an operation get the wider type") {
  const Expr h = var("h", DType::f16), b = var("b", DType::bf16), f = var("f", DType::f32), d = var("d", DType::f64);
  const Expr i = var("i", DType::i32), c = var("c", DType::i8), u = var("u", DType::u32), l = var("l", DType::i64);
  CHECK(type_of(h + f) == "f32");
  CHECK(type_of(h * b) == "f32");
  CHECK(type_of(f - d) == "f64");
  CHECK(type_of(h + l) == "f16");
  CHECK(type_of(i + c) == "i32");
  CHECK(type_of(i + u) == "i64");
  CHECK(type_of(c + u) == "i64");
  CHECK(type_of(u + l) == "i64");
  CHECK(type_of(i < f) == "bool");
}

TEST_CASE("a literal takes the type of the other side, and a constant keeps its own") {
  const Expr h = var("h", DType::f16), f = var("f", DType::f32), c = var("c", DType::u8), d = var("d", DType::f64);
  CHECK(type_of(h + 1) == "f16");
  CHECK(type_of(2 * f) == "f32");
  CHECK(type_of(f * 0.5) == "f32");
  CHECK(type_of(d * 0.5f) == "f64");
  CHECK(type_of(c + 255) == "u8");
  CHECK(type_of(c * 0.5f) == "f32");
  CHECK(type_of(c * 0.5) == "f32");
  CHECK(type_of(c + Expr(5)) == "i64");
  CHECK(type_of(h * constant(DType::f32, 0.5)) == "f32");
  CHECK(type_of(f * Expr(0.5)) == "f64");
  CHECK(type_of(i8(5) + 1) == "i8");
  CHECK(type_of(i8(5) + constant(DType::i32, std::int64_t{1})) == "i32");
  CHECK(type_of(select(c > 3, 0, constant(DType::u32, std::int64_t{1}))) == "u32");
  CHECK(type_of(1 << c) == "u8");
  CHECK(type_of(Expr(1) << c) == "i64");
  CHECK_THROWS_WITH_AS(c + 256, "expected a constant that fits u8, got 256; cast the other side to a wider type",
                       CompileError);
  CHECK_THROWS_AS(c + (-1), CompileError);
}

TEST_CASE("bool in arithmetic is refused") {
  const Expr flag = var("flag", DType::boolean), i = var("i", DType::i32);
  CHECK_THROWS_AS(flag + i, CompileError);
  CHECK_THROWS_AS(flag + flag, CompileError);
  CHECK_THROWS_AS(flag < flag, CompileError);
  CHECK_THROWS_AS(i && flag, CompileError);
  CHECK_THROWS_AS(!i, CompileError);
  CHECK(type_of(flag == flag) == "bool");
  CHECK(type_of(flag ^ flag) == "bool");
}

TEST_CASE("a scalar beside a vector is broadcast") {
  const Expr v = Ramp::make(0, 1, 8), n = var("n", DType::i64);
  CHECK(type_of(v + n) == "i64x8");
  CHECK(type_of(v < n) == "boolx8");
  CHECK(type_of(select(n > 0, v, 0)) == "i64x8");
}

TEST_CASE("integer division and modulo floor, and by zero give zero") {
  CHECK(folded(Expr(-7) / 2) == -4);
  CHECK(folded(Expr(-7) % 2) == 1);
  CHECK(folded(Expr(7) / -2) == -4);
  CHECK(folded(Expr(7) % -2) == -1);
  CHECK(folded(Expr(7) / 0) == 0);
  CHECK(folded(Expr(7) % 0) == 0);
  const std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
  CHECK(folded(Expr(smallest) / -1) == smallest);
  CHECK(folded(Expr(smallest) % -1) == 0);
  CHECK(folded(i8(-128) / i8(-1)) == -128);
}

TEST_CASE("folded integers wrap in their type") {
  CHECK(folded(i8(127) + i8(1)) == -128);
  CHECK(folded(i8(-128) * i8(-1)) == -128);
  CHECK(folded(-i8(-128)) == -128);
  CHECK(folded(constant(DType::u8, std::int64_t{3}) - constant(DType::u8, std::int64_t{4})) == 255);
  CHECK(folded(~constant(DType::u8, std::int64_t{1})) == 254);
}

TEST_CASE("a shift by less than nothing or by the whole width gives zero or the sign") {
  CHECK(folded(Expr(1) << 64) == 0);
  CHECK(folded(Expr(1) << -1) == 0);
  CHECK(folded(Expr(-8) >> 64) == -1);
  CHECK(folded(Expr(-8) >> -1) == -1);
  CHECK(folded(Expr(-8) >> 1) == -4);
  CHECK(folded(i8(-8) >> 300) == -1);
  CHECK(folded(constant(DType::u8, std::int64_t{200}) >> 8) == 0);
}

TEST_CASE("casts of constants truncate, saturate and round as the language says") {
  CHECK(folded(cast(DType::i8, Expr(300))) == 44);
  CHECK(folded(cast(DType::i8, Expr(-1e9))) == -128);
  CHECK(folded(cast(DType::u8, Expr(-3.5))) == 0);
  CHECK(folded(cast(DType::i32, Expr(-3.9))) == -3);
  CHECK(folded(cast(DType::i64, Expr(1e300))) == std::numeric_limits<std::int64_t>::max());
  CHECK(folded(cast(DType::u64, Expr(1e300))) == -1);
  CHECK(folded(cast(DType::i32, Expr(std::numeric_limits<double>::quiet_NaN()))) == 0);
  CHECK(folded(cast(DType::boolean, Expr(0.5))) == 1);
  CHECK(folded_float(cast(DType::f32, Expr(16777217))) == 16777216.0);
  CHECK(folded_float(cast(DType::bf16, Expr(257))) == 256.0);
  // Just above the midpoint of two bfloat16 values, by less than a double can represent: it still rounds up.
  CHECK(folded_float(cast(DType::bf16, Expr((std::int64_t{257} << 54) + 1))) == 258.0 * 18014398509481984.0);
  CHECK(folded_float(cast(DType::f64, constant(DType::u64, std::int64_t{-1}))) == 18446744073709551616.0);
}

TEST_CASE("folded floats round in their own type") {
  const Expr third = constant(DType::f32, 1.0) / constant(DType::f32, 3.0);
  CHECK(folded_float(third) == static_cast<double>(1.0f / 3.0f));
  CHECK(folded_float(constant(DType::f16, 2048.0) + constant(DType::f16, 1.0)) == 2048.0);
  CHECK(folded(constant(DType::f32, 1.0) < constant(DType::f32, 2.0)) == 1);
}

TEST_CASE("exact identities of integers and logic fold, those of floats do not") {
  const Expr i = var("i", DType::i64), f = var("f", DType::f32), p = var("p", DType::boolean);
  CHECK((i + 0).same_as(i));
  CHECK((1 * i).same_as(i));
  CHECK((i / 1).same_as(i));
  CHECK((p && Expr(1) == 1).same_as(p));
  CHECK(folded(p && Expr(1) == 2) == 0);
  CHECK_FALSE((f + 0).same_as(f));
}

TEST_CASE("select and if_then_else with a known condition are the chosen side") {
  const Expr a = var("a", DType::i64), b = var("b", DType::i64);
  CHECK(select(Expr(1) < 2, a, b).same_as(a));
  CHECK(if_then_else(Expr(1) > 2, a, b).same_as(b));
}

TEST_CASE("math functions convert their arguments and refuse what they are not for") {
  const Expr i = var("i", DType::i32), f = var("f", DType::f32), h = var("h", DType::f16);
  CHECK(type_of(call_math("exp", {i})) == "f32");
  CHECK(type_of(call_math("exp", {h})) == "f16");
  CHECK(type_of(call_math("pow", {f, Expr(2)})) == "f32");
  CHECK(type_of(call_math("popcount", {i})) == "i32");
  CHECK(type_of(call_math("abs", {i})) == "i32");
  CHECK_THROWS_AS(call_math("popcount", {f}), CompileError);
  CHECK_THROWS_WITH_AS(call_math("exp", {f, f}), "'exp': expected 1 argument, got 2", CompileError);
  CHECK_THROWS_AS(call_math("expp", {f}), CompileError);
}

TEST_CASE("let evaluates its value once, and C functions are called by name") {
  const Expr f = var("f", DType::f32);
  const Expr squared = let("x", f + 1, [](const Expr& x) { return x * x; });
  REQUIRE(squared.as<Let>() != nullptr);
  CHECK(equal(squared.as<Let>()->value, f + 1));
  CHECK(equal(squared.as<Let>()->body, squared.as<Let>()->var * squared.as<Let>()->var));
  CHECK(to_text(call_external(DType::f32, "cosf", {f})) == "cosf(f)");
}

TEST_CASE("equal compares structure, but variables by identity") {
  const Expr i = var("i", DType::i64), j = var("i", DType::i64);
  CHECK(equal(i * 2 + 1, i * 2 + 1));
  CHECK_FALSE(equal(i * 2 + 1, j * 2 + 1));
  CHECK_FALSE(equal(i * 2, i * 3));
  CHECK_FALSE(equal(constant(DType::f32, 0.0), constant(DType::f32, -0.0)));
}
