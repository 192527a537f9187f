// Tests the results of single operations against arithmetic that is implemented differently.
#include "tests/unit/crosscompile/ir/harness.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace ferry;
using namespace ferry::ir;

namespace {

constexpr DType kInts[] = {DType::i8, DType::i16, DType::i32, DType::i64,
                           DType::u8, DType::u16, DType::u32, DType::u64};

using Wide = __int128;

// Evaluates `value`, an integer or bool, in a kernel that stores it.
std::int64_t run_int(const Expr& value) {
  const BufferRef o = make_buffer("O", DType::i64, {Expr(1)});
  std::vector<std::int64_t> out(1);
  Harness h;
  h.tensor(o, out, Direction::out);
  h.run(Store::make(o, {Expr(0)}, Cast::make(DType::i64, value)));
  return out[0];
}

double run_float(const Expr& value) {
  const BufferRef o = make_buffer("O", DType::f64, {Expr(1)});
  std::vector<double> out(1);
  Harness h;
  h.tensor(o, out, Direction::out);
  h.run(Store::make(o, {Expr(0)}, Cast::make(DType::f64, value)));
  return out[0];
}

std::vector<std::int64_t> run_lanes(const Expr& value) {
  const auto lanes = static_cast<int>(value.type().lanes);
  const BufferRef o = make_buffer("O", DType::i64, {Expr(lanes)});
  std::vector<std::int64_t> out(static_cast<std::size_t>(lanes));
  Harness h;
  h.tensor(o, out, Direction::out);
  h.run(Store::make(o, {Ramp::make(0, 1, value.type().lanes)}, Cast::make(DType::i64, value)));
  return out;
}

Wide widen(DType type, std::int64_t value) {
  return type == DType::u64 ? Wide(static_cast<std::uint64_t>(value)) : Wide(value);
}

// Returns the value modulo 2^bits, in the type's range.
std::int64_t narrow(DType type, Wide value) {
  const int bits = Type(type).bits();
  const Wide modulus = Wide(1) << bits;
  Wide rest = ((value % modulus) + modulus) % modulus;
  if (is_signed_int(type) && rest >= modulus / 2) rest -= modulus;
  return static_cast<std::int64_t>(rest);
}

Wide floor_quotient(Wide a, Wide b) {
  const Wide q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

std::int64_t reference(BinaryOp op, DType type, std::int64_t left, std::int64_t right) {
  const Wide a = widen(type, left), b = widen(type, right);
  const bool in_range = b >= 0 && b < Type(type).bits();
  switch (op) {
    case BinaryOp::add: return narrow(type, a + b);
    case BinaryOp::sub: return narrow(type, a - b);
    case BinaryOp::mul: {
      // A signed 128-bit integer cannot hold the product of two u64, an unsigned one can.
      const auto product = static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b);
      return narrow(type, static_cast<Wide>(product & ~std::uint64_t{0}));
    }
    case BinaryOp::div: return b == 0 ? 0 : narrow(type, floor_quotient(a, b));
    case BinaryOp::mod: return b == 0 ? 0 : narrow(type, a - floor_quotient(a, b) * b);
    case BinaryOp::min: return narrow(type, a < b ? a : b);
    case BinaryOp::max: return narrow(type, a > b ? a : b);
    case BinaryOp::bit_and: return narrow(type, a & b);
    case BinaryOp::bit_or: return narrow(type, a | b);
    case BinaryOp::bit_xor: return narrow(type, a ^ b);
    case BinaryOp::shl: return in_range ? narrow(type, a * (Wide(1) << static_cast<int>(b))) : 0;
    case BinaryOp::shr:
      return in_range ? narrow(type, floor_quotient(a, Wide(1) << static_cast<int>(b))) : a < 0 ? -1 : 0;
    case BinaryOp::eq: return a == b;
    case BinaryOp::ne: return a != b;
    case BinaryOp::lt: return a < b;
    case BinaryOp::le: return a <= b;
    case BinaryOp::gt: return a > b;
    case BinaryOp::ge: return a >= b;
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: break;
  }
  FAIL("not an operation on integers");
  return 0;
}

std::vector<std::int64_t> corner_values(DType type) {
  const int bits = Type(type).bits();
  std::vector<std::int64_t> values;
  for (const Wide value :
       {Wide(0), Wide(1), Wide(2), Wide(3), Wide(7), Wide(-1), Wide(-2), Wide(-3), Wide(-7), Wide(bits - 1), Wide(bits),
        Wide(1) << (bits - 1), (Wide(1) << (bits - 1)) - 1, (Wide(1) << (bits - 1)) + 1}) {
    values.push_back(narrow(type, value));
  }
  std::mt19937_64 random(static_cast<std::uint64_t>(type));
  for (int i = 0; i < 6; ++i) values.push_back(narrow(type, static_cast<Wide>(random())));
  return values;
}

}  // namespace

TEST_CASE("every integer operation of every type agrees with 128-bit arithmetic") {
  for (const DType type : kInts) {
    const std::vector<std::int64_t> values = corner_values(type);
    // One kernel for all operations: O[op] = a op b.
    const Expr a = Var::make("a", type), b = Var::make("b", type);
    std::vector<BinaryOp> ops;
    for (int op = 0; op < static_cast<int>(BinaryOp::logical_and); ++op) ops.push_back(static_cast<BinaryOp>(op));
    const BufferRef o = make_buffer("O", DType::i64, {Expr(static_cast<int>(ops.size()))});
    std::vector<std::int64_t> out(ops.size());
    std::vector<Stmt> stores;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      stores.push_back(Store::make(o, {Expr(static_cast<int>(i))}, Cast::make(DType::i64, Binary::make(ops[i], a, b))));
    }
    std::int64_t av = 0, bv = 0;
    Harness h;
    h.scalar(a, av);
    h.scalar(b, bv);
    h.tensor(o, out, Direction::out);
    const Stmt body = Block::make(stores);
    for (const std::int64_t left : values) {
      for (const std::int64_t right : values) {
        av = left;
        bv = right;
        h.run(body);
        for (std::size_t i = 0; i < ops.size(); ++i) {
          const Expr folded = Binary::make(ops[i], IntImm::make(type, left), IntImm::make(type, right));
          INFO(dtype_name(type), " ", left, " op ", static_cast<int>(ops[i]), " ", right, " ", folded.defined());
          REQUIRE(out[i] == reference(ops[i], type, left, right));
        }
      }
    }
  }
}

TEST_CASE("constant folding agrees with 128-bit arithmetic") {
  for (const DType type : kInts) {
    for (const std::int64_t left : corner_values(type)) {
      for (const std::int64_t right : corner_values(type)) {
        const Expr a = IntImm::make(type, left), b = IntImm::make(type, right);
        const auto same = [&](const Expr& folded, BinaryOp op) {
          INFO(dtype_name(type), " ", left, " op ", static_cast<int>(op), " ", right);
          REQUIRE(as_int(folded) != nullptr);
          REQUIRE(*as_int(folded) == reference(op, type, left, right));
        };
        same(a + b, BinaryOp::add);
        same(a - b, BinaryOp::sub);
        same(a * b, BinaryOp::mul);
        same(a / b, BinaryOp::div);
        same(a % b, BinaryOp::mod);
        same(a << b, BinaryOp::shl);
        same(a >> b, BinaryOp::shr);
        same(min(a, b), BinaryOp::min);
        same(a < b, BinaryOp::lt);
      }
    }
  }
}

TEST_CASE("integer casts keep the low bits, between any two types") {
  for (const DType from : kInts) {
    for (const DType to : kInts) {
      for (const std::int64_t value : corner_values(from)) {
        const Expr x = Var::make("x", from);
        const Expr cast_at_run_time = Let::make(x, IntImm::make(from, value), Cast::make(to, x));
        INFO(dtype_name(from), " ", value, " to ", dtype_name(to));
        REQUIRE(run_int(cast_at_run_time) == narrow(DType::i64, widen(to, narrow(to, widen(from, value)))));
      }
    }
  }
}

TEST_CASE("floats become integers by truncation and saturation") {
  const Expr f = Var::make("f", DType::f64);
  const auto to = [&](DType type, double value) {
    return run_int(Let::make(f, constant(DType::f64, value), Cast::make(type, f)));
  };
  CHECK(to(DType::i32, 3.99) == 3);
  CHECK(to(DType::i32, -3.99) == -3);
  CHECK(to(DType::i8, 127.9) == 127);
  CHECK(to(DType::i8, 128.0) == 127);
  CHECK(to(DType::i8, -129.0) == -128);
  CHECK(to(DType::u8, -0.5) == 0);
  CHECK(to(DType::u8, -1.0) == 0);
  CHECK(to(DType::u8, 1e30) == 255);
  CHECK(to(DType::i64, 9.3e18) == std::numeric_limits<std::int64_t>::max());
  CHECK(to(DType::i64, -9.3e18) == std::numeric_limits<std::int64_t>::min());
  CHECK(to(DType::u64, 1.0e19) == static_cast<std::int64_t>(10000000000000000000u));
  CHECK(to(DType::u64, 1e300) == -1);
  CHECK(to(DType::i32, std::nan("")) == 0);
  CHECK(to(DType::boolean, 0.25) == 1);
  CHECK(to(DType::boolean, -0.0) == 0);
  CHECK(to(DType::boolean, std::nan("")) == 1);
}

TEST_CASE("a double becomes a half in one rounding") {
  const Expr f = Var::make("f", DType::f64);
  const auto to = [&](DType type, double value) {
    return run_float(Let::make(f, constant(DType::f64, value), Cast::make(type, f)));
  };
  // Just above the midpoint of 1 and 1 + 2^-10: rounding to float first would give the midpoint, which then rounds to
  // even.
  CHECK(to(DType::f16, 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)) == 1 + std::ldexp(1.0, -10));
  CHECK(to(DType::f16, 1 + std::ldexp(1.0, -11)) == 1);
  CHECK(to(DType::f16, 65519.0) == 65504);
  CHECK(to(DType::f16, 65520.0) == std::numeric_limits<double>::infinity());
  CHECK(to(DType::bf16, 1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40)) == 1 + std::ldexp(1.0, -7));
}

TEST_CASE("narrow floats compute in float32 and round") {
  const auto half = [](double value) { return constant(DType::f16, value); };
  const Expr a = Var::make("a", DType::f16), b = Var::make("b", DType::f16);
  const auto both = [&](double x, double y, const Expr& body) {
    return run_float(Let::make(a, half(x), Let::make(b, half(y), body)));
  };
  CHECK(both(2048, 1, a + b) == 2048);
  CHECK(both(2048, 3, a + b) == 2052);
  CHECK(both(300, 300, a * b) == std::numeric_limits<double>::infinity());
  CHECK(both(1, 3, a / b) == static_cast<double>(f16_to_f32(f32_to_f16(1.0f / 3.0f))));
  const Expr p = Var::make("p", DType::bf16);
  CHECK(run_float(Let::make(p, constant(DType::bf16, 256.0), p + 1)) == 256);
}

TEST_CASE("min and max are NaN when either side is") {
  const Expr a = Var::make("a", DType::f32), b = Var::make("b", DType::f32);
  const double nan = std::nan("");
  const auto both = [&](double x, double y, const Expr& body) {
    return run_float(Let::make(a, constant(DType::f32, x), Let::make(b, constant(DType::f32, y), body)));
  };
  CHECK(std::isnan(both(nan, 1, min(a, b))));
  CHECK(std::isnan(both(1, nan, min(a, b))));
  CHECK(std::isnan(both(nan, 1, max(a, b))));
  CHECK(both(2, 1, min(a, b)) == 1);
  CHECK(both(2, 1, max(a, b)) == 2);
  CHECK(both(nan, nan, cast(DType::f32, a == b)) == 0);
}

TEST_CASE("vectors work lane by lane") {
  const Expr v = Ramp::make(3, 2, 4);
  CHECK(run_lanes(v) == std::vector<std::int64_t>{3, 5, 7, 9});
  CHECK(run_lanes(v * v - 1) == std::vector<std::int64_t>{8, 24, 48, 80});
  CHECK(run_lanes(select(v < 6, v, -v)) == std::vector<std::int64_t>{3, 5, -7, -9});
  CHECK(run_int(VectorReduce::make(ReduceOp::sum, v)) == 24);
  CHECK(run_int(VectorReduce::make(ReduceOp::prod, v)) == 945);
  CHECK(run_int(VectorReduce::make(ReduceOp::min, -v)) == -9);
  CHECK(run_int(VectorReduce::make(ReduceOp::max, v)) == 9);
  CHECK(run_int(VectorReduce::make(ReduceOp::any, v == 7)) == 1);
  CHECK(run_int(VectorReduce::make(ReduceOp::all, v == 7)) == 0);
  const Expr wrapping = Ramp::make(constant(DType::u8, std::int64_t{250}), constant(DType::u8, std::int64_t{5}), 3);
  CHECK(run_lanes(wrapping) == std::vector<std::int64_t>{250, 255, 4});
}

TEST_CASE("vector variables and reductions inside each other keep their lanes apart") {
  const Expr v = Ramp::make(1, 1, 4), x = Var::make("x", Type(DType::i64, 4)), y = Var::make("y", Type(DType::i64, 4));
  CHECK(run_lanes(Let::make(x, v * 2, x + 1)) == std::vector<std::int64_t>{3, 5, 7, 9});
  const Expr total = Broadcast::make(VectorReduce::make(ReduceOp::sum, x), 4);
  CHECK(run_lanes(Let::make(x, v, x * 10 + total)) == std::vector<std::int64_t>{20, 30, 40, 50});
  CHECK(run_int(Let::make(x, v, VectorReduce::make(ReduceOp::sum, x * total))) == 100);
  CHECK(run_lanes(Let::make(x, v, Let::make(y, x * x, y - x))) == std::vector<std::int64_t>{0, 2, 6, 12});
}

TEST_CASE("lanes that a mask or a condition leaves out read and write nothing") {
  const BufferRef a = make_buffer("A", DType::i64, {Expr(5)}), o = make_buffer("O", DType::i64, {Expr(8)});
  std::vector<std::int64_t> data{10, 11, 12, 13, 14}, out(8, -1);
  Harness h;
  h.tensor(a, data, Direction::in);
  h.tensor(o, out);
  const Expr v = Ramp::make(0, 1, 8);
  CHECK(h.run(Store::make(o, {v}, Load::make(a, {v}, v < 5), v < 6)) == 0);
  CHECK(out == std::vector<std::int64_t>{10, 11, 12, 13, 14, 0, -1, -1});
  CHECK(h.run(Store::make(o, {v}, if_then_else(v < 5, Load::make(a, {v}), -v))) == 0);
  CHECK(out == std::vector<std::int64_t>{10, 11, 12, 13, 14, -5, -6, -7});
  CHECK(h.complaint(Store::make(o, {v}, select(v < 5, Load::make(a, {v}), -v))) != "none");
  // All lanes are read before the first is written, and lanes with the same index are written in order.
  CHECK(h.run(Store::make(o, {v}, Load::make(o, {7 - v}))) == 0);
  CHECK(out == std::vector<std::int64_t>{-7, -6, -5, 14, 13, 12, 11, 10});
  CHECK(h.run(Store::make(o, {v / 4}, v)) == 0);
  CHECK(out[0] == 3);
  CHECK(out[1] == 7);
}

TEST_CASE("only the chosen side of an if_then_else is evaluated") {
  const BufferRef a = make_buffer("A", DType::i64, {Expr(2)});
  std::vector<std::int64_t> data{1, 2};
  const Expr i = Var::make("i");
  Harness h;
  h.tensor(a, data);
  const auto body = [&](auto choose) {
    return For::make(i, 0, 4, ForKind::serial, Evaluate::make(choose(i < 2, Load::make(a, {i}), Expr(0))));
  };
  CHECK(h.complaint(body([](Expr c, Expr t, Expr f) { return IfThenElse::make(c, t, f); })) == "none");
  CHECK(h.complaint(body([](Expr c, Expr t, Expr f) { return Select::make(c, t, f); })) != "none");
}

TEST_CASE("math functions agree with the C library in their own precision") {
  const auto math = [](const char* name, double x, DType type = DType::f32) {
    return run_float(call_math(name, {constant(type, x)}));
  };
  CHECK(math("exp", 1.5) == static_cast<double>(static_cast<float>(std::exp(1.5))));
  CHECK(math("exp", 1.5, DType::f64) == std::exp(1.5));
  CHECK(math("rsqrt", 4) == 0.5);
  CHECK(math("sigmoid", 0) == 0.5);
  CHECK(math("round", 2.5) == 3);
  CHECK(math("round", -2.5) == -3);
  CHECK(math("round_even", 2.5) == 2);
  CHECK(math("round_even", -3.5) == -4);
  CHECK(std::signbit(math("round_even", -0.5)));
  CHECK(math("trunc", -2.5) == -2);
  CHECK(math("floor", -2.5) == -3);
  CHECK(math("ceil", -2.5) == -2);
  CHECK(math("exp", 10, DType::f16) == static_cast<double>(f16_to_f32(f32_to_f16(static_cast<float>(std::exp(10.0))))));
  CHECK(std::isnan(math("log", -1)));
  CHECK(run_float(call_math("pow", {Expr(2.0f), Expr(10.0f)})) == 1024);
  CHECK(run_float(call_math("atan2", {Expr(1.0), Expr(1.0)})) == std::atan2(1.0, 1.0));
  CHECK(run_float(call_math("fmod", {Expr(-7.5f), Expr(2.0f)})) == -1.5);
  CHECK(run_float(call_math("fma", {Expr(1e20f), Expr(1e20f), Expr(-1.0f)})) ==
        std::numeric_limits<double>::infinity());
  CHECK(run_int(call_math("popcount", {constant(DType::i8, std::int64_t{-1})})) == 8);
  CHECK(run_int(call_math("clz", {constant(DType::u16, std::int64_t{1})})) == 15);
  CHECK(run_int(call_math("clz", {constant(DType::u16, std::int64_t{0})})) == 16);
  const Expr x = Var::make("x", DType::i8);
  CHECK(run_int(Let::make(x, constant(DType::i8, std::int64_t{-128}), call_math("abs", {x}))) == -128);
}

TEST_CASE("a bitcast keeps the bits, a NaN's payload included") {
  const BufferRef a = make_buffer("A", DType::f32, {Expr(1)}), o = make_buffer("O", DType::i32, {Expr(1)});
  std::vector<float> data{std::bit_cast<float>(0x7f812345u)};  // a signalling NaN
  std::vector<std::int32_t> out(1);
  Harness h;
  h.tensor(a, data, Direction::in);
  h.tensor(o, out, Direction::out);
  h.run(Store::make(o, {Expr(0)}, Call::make(DType::i32, CallOp::bitcast, {Load::make(a, {Expr(0)})})));
  CHECK(out[0] == 0x7f812345);
  const Expr half = Call::make(DType::f16, CallOp::bitcast, {constant(DType::u16, std::int64_t{0x3c00})});
  CHECK(run_float(half) == 1);
}

TEST_CASE("the C library's names of float functions are known, other externals are refused by name") {
  CHECK(run_float(Call::make(DType::f32, Callee::external("expf"), {Expr(0.0f)})) == 1);
  CHECK(run_float(Call::make(DType::f64, Callee::external("roundeven"), {Expr(2.5)})) == 2);
  Harness h;
  CHECK(h.complaint(Evaluate::make(Call::make(DType::f32, Callee::external("my_function"), {Expr(0.0f)}))) ==
        "the interpreter does not know the external function 'my_function'");
}
