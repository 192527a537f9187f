// Tests the result type of operations for all pairs of types, as documented in docs/language.md, in the text notation
// and in C++.
#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "ferry/lang/math.h"
#include "ferry/lang/tensor.h"
#include "ferry/lang/text.h"
#include "host/lang/stage.h"

#include <array>
#include <functional>
#include <string>

using namespace ferry;
using namespace ferry::lang;

namespace {

constexpr std::array<const char*, 12> kNames = {"float16", "bfloat16", "float32", "float64", "int8",   "int16",
                                                "int32",   "int64",    "uint8",   "uint16",  "uint32", "uint64"};
// The common type of the row's type and the column's type.
constexpr const char* kTogether[12][12] = {
    // f16  bf16   f32    f64    i8     i16    i32    i64    u8     u16    u32    u64
    {"f16", "f32", "f32", "f64", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16"},
    {"f32", "bf16", "f32", "f64", "bf16", "bf16", "bf16", "bf16", "bf16", "bf16", "bf16", "bf16"},
    {"f32", "f32", "f32", "f64", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32"},
    {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64"},
    {"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "i16", "i32", "i64", "i64"},
    {"f16", "bf16", "f32", "f64", "i16", "i16", "i32", "i64", "i16", "i32", "i64", "i64"},
    {"f16", "bf16", "f32", "f64", "i32", "i32", "i32", "i64", "i32", "i32", "i64", "i64"},
    {"f16", "bf16", "f32", "f64", "i64", "i64", "i64", "i64", "i64", "i64", "i64", "i64"},
    {"f16", "bf16", "f32", "f64", "i16", "i16", "i32", "i64", "u8", "u16", "u32", "u64"},
    {"f16", "bf16", "f32", "f64", "i32", "i32", "i32", "i64", "u16", "u16", "u32", "u64"},
    {"f16", "bf16", "f32", "f64", "i64", "i64", "i64", "i64", "u32", "u32", "u32", "u64"},
    {"f16", "bf16", "f32", "f64", "i64", "i64", "i64", "i64", "u64", "u64", "u64", "u64"},
};

DType type_named(const char* name) { return parse_dtype(name).value(); }
bool is_real(std::size_t type) { return is_float(type_named(kNames[type])); }

// Returns the type that the text notation gives `value`, computed from A and B of these types.
std::string in_text(const std::string& a, const std::string& b, const std::string& value) {
  const std::string text = "def f(" + a + "(N) A, " + b + "(N) B) -> (C) { C(i) = " + value + " where i in 0:N }";
  CAPTURE(text);
  return std::string(dtype_name(parse(text, "test.tc").at(0).parameters.back().tensor.dtype()));
}

using Made = std::function<Expr(const Expr& a, const Expr& b)>;
std::string in_cpp(const char* a, const char* b, const Made& value) {
  const Expr n = var("n");
  const Tensor left = placeholder({n}, type_named(a), "A"), right = placeholder({n}, type_named(b), "B");
  return std::string(dtype_name(compute({n}, [&](auto& i) { return value(left(i[0]), right(i[0])); }, "C").dtype()));
}

// Returns the only value of a text without tensors, which is constant-folded.
std::int64_t folded(const std::string& value) {
  const std::string text = "def f() -> (C) { C() = " + value + " }";
  CAPTURE(text);
  const Tensor result = parse(text, "test.tc").at(0).parameters.back().tensor;
  const std::int64_t* known = ir::as_int(result.stage()->values.at(0));
  REQUIRE(known != nullptr);
  return *known;
}

std::string refusal(const std::string& type, const std::string& value) {
  try {
    in_text(type, type, value);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("both sides of an operator get the wider type, for all pairs of types") {
  for (std::size_t a = 0; a < kNames.size(); ++a) {
    for (std::size_t b = 0; b < kNames.size(); ++b) {
      CAPTURE(kNames[a]);
      CAPTURE(kNames[b]);
      const std::string together = kTogether[a][b];
      for (const char* value : {"A(i) + B(i)", "A(i) - B(i)", "A(i) * B(i)", "A(i) / B(i)", "A(i) % B(i)",
                                "min(A(i), B(i))", "max(A(i), B(i))", "i > 2 ? A(i) : B(i)", "clamp(A(i), B(i), 3)"}) {
        CHECK(in_text(kNames[a], kNames[b], value) == together);
      }
      CHECK(in_cpp(kNames[a], kNames[b], [](auto& x, auto& y) { return x + y; }) == together);
      CHECK(in_cpp(kNames[a], kNames[b], [](auto& x, auto& y) { return ir::max(x, y); }) == together);
      CHECK(in_cpp(kNames[a], kNames[b], [](auto& x, auto& y) { return clamp(x, y, 3); }) == together);
      CHECK(in_cpp(kNames[a], kNames[b], [](auto& x, auto& y) { return ir::select(x < y, x, y); }) == together);
      if (is_real(a) || is_real(b)) continue;
      CHECK(in_text(kNames[a], kNames[b], "A(i) & B(i)") == together);
      CHECK(in_text(kNames[a], kNames[b], "A(i) << B(i)") == to_text(ir::Type(type_named(kNames[a]))));
      CHECK(in_cpp(kNames[a], kNames[b], [](auto& x, auto& y) { return x >> y; }) ==
            to_text(ir::Type(type_named(kNames[a]))));
    }
  }
}

TEST_CASE("a constant whose type is fixed keeps it beside every other type") {
  constexpr struct {
    const char *constant, *type;
  } kSuffixed[] = {{"5u", "uint32"}, {"5l", "int64"}, {"5ul", "uint64"}, {"0.5f", "float32"}, {"0.5h", "float16"}};
  for (std::size_t a = 0; a < kNames.size(); ++a) {
    const std::string own = kNames[a];
    for (std::size_t b = 0; b < kNames.size(); ++b) {
      CAPTURE(own);
      CAPTURE(kNames[b]);
      const std::string together = kTogether[a][b], constant = std::string(kNames[b]) + "(5)";
      CHECK(in_text(own, own, "A(i) + " + constant) == together);
      CHECK(in_text(own, own, constant + " * A(i)") == together);
      CHECK(in_text(own, own, "i > 2 ? " + constant + " : A(i)") == together);
      CHECK(in_text(own, own, "max(A(i), " + constant + ")") == together);
      const Expr fixed = ir::constant(type_named(kNames[b]), std::int64_t{5});
      CHECK(in_cpp(kNames[a], kNames[a], [&](auto& x, auto&) { return x + fixed; }) == together);
      CHECK(in_cpp(kNames[a], kNames[a], [&](auto& x, auto&) { return fixed - x; }) == together);
      CHECK(in_cpp(kNames[a], kNames[a], [&](auto& x, auto&) { return ir::select(x < x, fixed, x); }) == together);
      for (const auto& [suffixed, type] : kSuffixed) {
        if (std::string(kNames[b]) != type) continue;
        CHECK(in_text(own, own, "A(i) + " + std::string(suffixed)) == together);
        CHECK(in_text(own, own, std::string(suffixed) + " - A(i)") == together);
      }
    }
    CHECK(in_cpp(kNames[a], kNames[a], [](auto& x, auto&) { return x + Expr(5); }) == kTogether[a][7]);
    CHECK(in_cpp(kNames[a], kNames[a], [](auto& x, auto&) { return x * Expr(0.5); }) == kTogether[a][3]);
  }
}

TEST_CASE("a number without a suffix takes the type of what it meets") {
  for (std::size_t a = 0; a < kNames.size(); ++a) {
    const char* name = kNames[a];
    CAPTURE(name);
    const std::string own = to_text(ir::Type(type_named(name))), real = is_real(a) ? own : "f32";
    for (const char* value : {"A(i) + 5", "5 - A(i)", "i > 2 ? 0 : A(i)", "min(7, A(i))", "clamp(A(i), 0, 100)",
                              "A(i) * (3 + 4)", "A(i) + max(1, 2)", "A(i) % 3", "min(1, 2, A(i))"}) {
      CAPTURE(value);
      CHECK(in_text(name, name, value) == own);
    }
    for (const char* value : {"A(i) + 0.5", "0.5 * A(i)", "i > 2 ? 0.5 : A(i)", "clamp(A(i), 0, 6.5)",
                              "A(i) + (1 + 0.5)", "max(A(i), -inf)"}) {
      CAPTURE(value);
      CHECK(in_text(name, name, value) == real);
    }
    CHECK(in_cpp(name, name, [](auto& x, auto&) { return x + 5; }) == own);
    CHECK(in_cpp(name, name, [](auto& x, auto&) { return std::int64_t{5} - x; }) == own);
    CHECK(in_cpp(name, name, [](auto& x, auto&) { return ir::select(x < 3, 0, x); }) == own);
    CHECK(in_cpp(name, name, [](auto& x, auto&) { return ir::min(7, x); }) == own);
    CHECK(in_cpp(name, name, [](auto& x, auto&) { return clamp(x, 0, 100); }) == own);
    CHECK(in_cpp(name, name, [](auto& x, auto&) { return x * 0.5; }) == real);
    CHECK(in_cpp(name, name, [](auto& x, auto&) { return ir::max(x, 0.5f); }) == real);
    CHECK(in_cpp(name, name, [](auto& x, auto&) { return pow(x, 2); }) == real);
    CHECK(in_cpp(name, name, [](auto& x, auto&) { return atan2(1.0, x); }) == real);
    if (is_real(a)) continue;
    CHECK(in_text(name, name, "1 << A(i)") == own);
    CHECK(in_text(name, name, "A(i) << 1") == own);
    CHECK(in_cpp(name, name, [](auto& x, auto&) { return 1 << x; }) == own);
  }
}

TEST_CASE("numbers alone are int and float, int64 where an int is too narrow") {
  CHECK(in_text("int8", "int8", "i > 2 ? 3 : 4") == "i32");
  CHECK(in_text("int8", "int8", "i > 2 ? 3 : 3000000000") == "i64");
  CHECK(in_text("int8", "int8", "i > 2 ? 3 : 0.5") == "f32");
  CHECK(in_text("int8", "int8", "3") == "i32");
  CHECK(in_text("int8", "int8", "pow(2, 0.5)") == "f32");
  CHECK(in_text("int8", "int8", "i > 2 ? 0 : 1u") == "u32");
}

TEST_CASE("operations on constants are exact in the type that both get") {
  CHECK(folded("int8(100) + int32(100)") == 200);
  CHECK(folded("int8(100) + 27") == 127);
  CHECK(folded("int8(100) + 28") == -128);
  CHECK(folded("int(3000000000u > int32(-1))") == 1);
  CHECK(folded("int(uint8(200) > int8(-1))") == 1);
  CHECK(folded("int(uint16(65535) + int16(-1))") == 65534);
  CHECK(folded("1 << int8(3)") == 8);
  CHECK(folded("uint8(200) + 300u") == 500);
}

TEST_CASE("a number that does not fit what it meets is refused") {
  const std::string end = "; cast the other side to a wider type";
  CHECK(refusal("uint8", "A(i) + 300").find("expected a constant that fits u8, got 300" + end) != std::string::npos);
  CHECK(refusal("uint32", "A(i) > -1").find("expected a constant that fits u32, got -1" + end) != std::string::npos);
  CHECK(refusal("int8", "i > 2 ? A(i) : 128").find("fits i8, got 128") != std::string::npos);
  CHECK(refusal("float16", "A(i) * 70000").find("fits f16, got one that rounds to infinity") != std::string::npos);
  CHECK(refusal("float16", "min(A(i), 1e10)").find("fits f16") != std::string::npos);
  CHECK(refusal("float32", "A(i) * 1e39").find("fits f32") != std::string::npos);
  CHECK(in_text("float16", "float16", "min(A(i), inf)") == "f16");
  CHECK(in_text("float16", "float16", "A(i) * 65504") == "f16");
  CHECK(in_text("uint8", "uint8", "A(i) + 300u") == "u32");
  const auto wide = [](const Expr& x, const Expr&) { return x + 300; };
  CHECK_THROWS_AS(in_cpp("uint8", "uint8", wide), CompileError);
}

TEST_CASE("a size that is fixed keeps the type that it has as a name") {
  const std::string text = "def f(int8(N) A) -> (B) { B(i) = A(i) + N }";
  CHECK(dtype_name(parse(text, "test.tc").at(0).parameters.back().tensor.dtype()) == std::string("i64"));
  CHECK(dtype_name(parse(text, "test.tc", false, {{"N", 7}}).at(0).parameters.back().tensor.dtype()) ==
        std::string("i64"));
}
