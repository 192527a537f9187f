#include "crosscompile/passes/legalize/legalize_floats.h"

#include "tests/unit/crosscompile/passes/kernel.h"

#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/visitor.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

// Runs out[i] = cast(to, in[i]) after the pass over all the values, in vectors of four and a scalar tail.
template <class Out, class In>
std::vector<Out> convert(DType to, DType from, std::vector<In> values, const Target& target) {
  Kernel kernel;
  const Expr n = kernel.size("n");
  const BufferRef in = kernel.input("in", from, {n}), out = kernel.output("out", to, {n});
  const Expr v = index("v"), i = index("i");
  const Expr lanes = Ramp::make(v * 4, 1, 4);
  kernel.function.body = block({
      loop(v, n / 4, put(out, {lanes}, cast(to, at(in, {lanes})))),
      For::make(i, n / 4 * 4, n % 4, ForKind::serial, put(out, {i}, cast(to, at(in, {i})))),
  });
  const Function legal = legalize_floats(kernel.function, target);
  std::vector<Out> result(values.size());
  auto size = static_cast<std::int64_t>(values.size());
  void* arguments[] = {values.data(), result.data(), &size};
  REQUIRE(interpret(legal, arguments) == 0);
  return result;
}

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> patterns(65536);
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
  return patterns;
}

// The formats by their definition, in double arithmetic that is exact for them.
struct Format {
  DType dtype;
  int mantissa, bias, exponents;
};
constexpr Format kHalf{DType::f16, 10, 15, 31};
constexpr Format kBrain{DType::bf16, 7, 127, 255};

double value_of(std::uint16_t bits, Format format) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = (bits & 0x7fff) >> format.mantissa;
  const int mantissa = bits & ((1 << format.mantissa) - 1);
  if (exponent == format.exponents) return mantissa != 0 ? std::nan("") : sign * INFINITY;
  const int shift = std::max(exponent, 1) - format.bias - format.mantissa;
  return sign * std::ldexp(mantissa + (exponent != 0 ? 1 << format.mantissa : 0), shift);
}

bool is_nan_pattern(std::uint16_t bits, Format format) {
  return (bits & 0x7fff) > (format.exponents << format.mantissa);
}
bool is_quiet(std::uint16_t bits, Format format) { return (bits >> (format.mantissa - 1) & 1) != 0; }

// Returns the nearest bit pattern, ties to even; `value` is exact.
std::uint16_t nearest(long double value, Format format) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const long double magnitude = std::fabs(value);
  const std::uint16_t infinity = static_cast<std::uint16_t>(format.exponents << format.mantissa);
  int low = 0, high = infinity;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (value_of(static_cast<std::uint16_t>(middle), format) <= magnitude ? low : high) = middle;
  }
  // Infinity takes the place of the next larger number.
  const long double above = high == infinity ? 2.0L * value_of(static_cast<std::uint16_t>(infinity - 1), format) -
                                                   value_of(static_cast<std::uint16_t>(infinity - 2), format)
                                             : value_of(static_cast<std::uint16_t>(high), format);
  const long double to_low = magnitude - value_of(static_cast<std::uint16_t>(low), format);
  const long double to_high = above - magnitude;
  const bool up = to_high < to_low || (to_high == to_low && low % 2 != 0);
  return static_cast<std::uint16_t>(sign | (up ? high : low));
}

// Returns every float32 at which rounding changes: each narrow value, the midpoints, and the neighbours of both.
std::vector<float> deciding_floats(Format format) {
  std::vector<float> values{INFINITY,
                            -INFINITY,
                            0.0f,
                            -0.0f,
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::denorm_min(),
                            -std::numeric_limits<float>::min()};
  const int infinity = format.exponents << format.mantissa;
  for (int bits = 0; bits < infinity; ++bits) {
    const double here = value_of(static_cast<std::uint16_t>(bits), format);
    const double next = bits + 1 == infinity ? 2 * here - value_of(static_cast<std::uint16_t>(bits - 1), format)
                                             : value_of(static_cast<std::uint16_t>(bits + 1), format);
    const auto middle = static_cast<float>((here + next) / 2);
    for (const float value :
         {static_cast<float>(here), middle, std::nextafter(middle, 0.0f), std::nextafter(middle, INFINITY)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  return values;
}

struct Case {
  const char* name;
  Target target;
};
// With and without instructions for the conversions: in the interpreter both must give the same results.
std::vector<Case> cases() { return {{"integers", plain_target()}, {"f16c", target_with("x86_64", {"f16c"})}}; }

void check_bits(std::uint16_t got, std::uint16_t expected, const std::string& from) {
  if (got != expected) FAIL_CHECK(from, ": expected bits ", expected, ", got ", got);
}

class NarrowFinder : public Visitor {
 public:
  std::string found;

 protected:
  using Visitor::visit_node;
  void visit_node(const Binary& node) override {
    note(node.left.type(), "arithmetic");
    Visitor::visit_node(node);
  }
  void visit_node(const Cast& node) override {
    note(node.type, "cast");
    note(node.value.type(), "cast");
    Visitor::visit_node(node);
  }
  void visit_node(const FloatImm& node) override { note(node.type, "constant"); }
  void visit_node(const Call& node) override {
    if (node.callee.op != CallOp::bitcast) note(node.type, "call");
    Visitor::visit_node(node);
  }
  void visit_node(const VectorReduce& node) override {
    note(node.type, "reduction");
    Visitor::visit_node(node);
  }

 private:
  void note(Type type, const char* what) {
    if (type.code == DType::f16 || type.code == DType::bf16) found = what;
  }
};

}  // namespace

TEST_CASE("every float16 and bfloat16 widens to its value, and NaN to a quiet NaN") {
  for (const Case& c : cases()) {
    for (const Format format : {kHalf, kBrain}) {
      CAPTURE(c.name);
      const auto wide = convert<float>(DType::f32, format.dtype, all_patterns(), c.target);
      for (std::size_t i = 0; i < wide.size(); ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        const bool same = is_nan_pattern(bits, format)
                              ? std::isnan(wide[i])
                              : std::bit_cast<std::uint32_t>(wide[i]) ==
                                    std::bit_cast<std::uint32_t>(static_cast<float>(value_of(bits, format)));
        if (!same) FAIL_CHECK("pattern ", i, ": got ", wide[i]);
      }
    }
  }
}

TEST_CASE("every float16 and bfloat16 survives the way to float32 and back") {
  for (const Case& c : cases()) {
    for (const Format format : {kHalf, kBrain}) {
      CAPTURE(c.name);
      const auto wide = convert<float>(DType::f32, format.dtype, all_patterns(), c.target);
      const auto back = convert<std::uint16_t>(format.dtype, DType::f32, wide, c.target);
      for (std::size_t i = 0; i < back.size(); ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        if (is_nan_pattern(bits, format)) {
          if (!is_nan_pattern(back[i], format) || !is_quiet(back[i], format))
            FAIL_CHECK("NaN ", i, " became ", back[i]);
        } else {
          check_bits(back[i], bits, "pattern " + std::to_string(i));
        }
      }
    }
  }
}

TEST_CASE("float32 rounds to the nearest narrow float, ties to even, at every point where it matters") {
  for (const Case& c : cases()) {
    for (const Format format : {kHalf, kBrain}) {
      CAPTURE(c.name);
      const auto values = deciding_floats(format);
      const auto narrow = convert<std::uint16_t>(format.dtype, DType::f32, values, c.target);
      for (std::size_t i = 0; i < values.size(); ++i)
        check_bits(narrow[i], nearest(values[i], format), std::to_string(values[i]));
    }
  }
}

TEST_CASE("float64 rounds to a narrow float once") {
  for (const Case& c : cases()) {
    for (const Format format : {kHalf, kBrain}) {
      CAPTURE(c.name);
      std::vector<double> values{INFINITY, -INFINITY, 1e300, -1e300, 5e-324, -5e-324, 3.4028235677973366e38};
      for (const float value : deciding_floats(format)) {
        values.push_back(value);
        // Rounding these to float32 first would lose which side of a midpoint they are on.
        values.push_back(std::nextafter(static_cast<double>(value), 0.0));
        values.push_back(std::nextafter(static_cast<double>(value), value < 0 ? -INFINITY : INFINITY));
      }
      std::erase_if(values, [](double value) { return std::isnan(value); });
      const auto narrow = convert<std::uint16_t>(format.dtype, DType::f64, values, c.target);
      for (std::size_t i = 0; i < values.size(); ++i)
        check_bits(narrow[i], nearest(values[i], format), std::to_string(values[i]));
      const auto nan =
          convert<std::uint16_t>(format.dtype, DType::f64, std::vector<double>{std::nan(""), -std::nan("7")}, c.target);
      for (const std::uint16_t bits : nan) CHECK(is_nan_pattern(bits, format));
    }
  }
}

TEST_CASE("integers round to a narrow float once") {
  const auto check = [](auto sample, DType from, const Target& target) {
    using T = decltype(sample);
    std::vector<T> values{0, 1, std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
    for (int shift = 0; shift < std::numeric_limits<T>::digits; ++shift) {
      for (const std::uint64_t base : {257ull, 259ull, 2049ull, 2051ull, 4097ull, 16777217ull}) {
        for (const int nudge : {-1, 0, 1}) {
          const auto value =
              static_cast<T>((base << shift) + static_cast<std::uint64_t>(static_cast<std::int64_t>(nudge)));
          values.push_back(value);
          values.push_back(static_cast<T>(0 - static_cast<std::uint64_t>(value)));
        }
      }
    }
    for (const Format format : {kHalf, kBrain}) {
      const auto narrow = convert<std::uint16_t>(format.dtype, from, values, target);
      for (std::size_t i = 0; i < values.size(); ++i)
        check_bits(narrow[i], nearest(static_cast<long double>(values[i]), format), std::to_string(values[i]));
    }
  };
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    check(std::int8_t{}, DType::i8, c.target);
    check(std::uint16_t{}, DType::u16, c.target);
    check(std::int32_t{}, DType::i32, c.target);
    check(std::uint32_t{}, DType::u32, c.target);
    check(std::int64_t{}, DType::i64, c.target);
    check(std::uint64_t{}, DType::u64, c.target);
  }
}

TEST_CASE("casts of narrow floats to integers, float64 and each other are those of their values") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    const auto whole = convert<std::int32_t>(DType::i32, DType::f16, all_patterns(), c.target);
    const auto wide = convert<double>(DType::f64, DType::bf16, all_patterns(), c.target);
    const auto brain = convert<std::uint16_t>(DType::bf16, DType::f16, all_patterns(), c.target);
    const auto half = convert<std::uint16_t>(DType::f16, DType::bf16, all_patterns(), c.target);
    for (std::size_t i = 0; i < 65536; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      if (!is_nan_pattern(bits, kBrain)) {
        if (wide[i] != value_of(bits, kBrain)) FAIL_CHECK("bfloat16 ", i, " became ", wide[i]);
        check_bits(half[i], nearest(value_of(bits, kBrain), kHalf), "bfloat16 " + std::to_string(i));
      }
      if (!is_nan_pattern(bits, kHalf)) {
        check_bits(brain[i], nearest(value_of(bits, kHalf), kBrain), "float16 " + std::to_string(i));
        const double value = value_of(bits, kHalf);
        const double limit = 2147483647.0;
        const auto expected = static_cast<std::int32_t>(value > limit ? limit : value < -limit ? -limit - 1 : value);
        if (whole[i] != expected) FAIL_CHECK("float16 ", i, " became ", whole[i]);
      } else {
        CHECK(whole[i] == 0);
      }
    }
  }
}

TEST_CASE(
    "arithmetic on narrow floats is the same before and after the pass, and none is left on a target without it") {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    Kernel kernel;
    const Expr n = kernel.size("n");
    const BufferRef a = kernel.input("a", dtype, {n}), b = kernel.input("b", dtype, {n}),
                    out = kernel.output("out", dtype, {n}), flags = kernel.output("flags", DType::boolean, {n});
    const Expr i = index("i"), x = at(a, {i}), y = at(b, {i}), two = constant(Type(dtype), 2.0);
    const Expr value = max(x * y + two, -x) / (call_math("abs", {y}) + two) -
                       call_math("sqrt", {call_math("abs", {x})}) + cast(dtype, i) +
                       select(x < y, min(x, y), call_math("floor", {x * y}));
    const Expr lanes = Ramp::make(0, 1, 8);
    const BufferRef total = kernel.output("total", dtype, {1}, Direction::inout);
    kernel.function.body = block({
        loop(i, n, block({put(out, {i}, value), put(flags, {i}, x == y)})),
        If::make(n >= 8, put(total, {0}, at(total, {0}) + VectorReduce::make(ReduceOp::sum, at(a, {lanes})))),
    });
    for (const Target& target : {plain_target(), target_with("x86_64", {"f16c"}), target_with("aarch64", {"fullfp16"}),
                                 target_with("riscv64", {"zfh"})}) {
      const Function legal = legalize_floats(kernel.function, target);
      for (const std::int64_t size : kOddSizes) check_same(kernel.function, legal, {size});
    }
    NarrowFinder left;
    left.visit(legalize_floats(kernel.function, plain_target()).body);
    CHECK(left.found == "");
  }
}

TEST_CASE("each architecture's features decide what float16 does natively") {
  CHECK(!converts_natively(DType::f16, target_with("x86_64", {"avx"})));
  CHECK(converts_natively(DType::f16, target_with("x86_64", {"avx", "f16c"})));
  CHECK(converts_natively(DType::f16, target_with("aarch64", {"neon"})));
  CHECK(!computes_natively(DType::f16, target_with("aarch64", {"neon"})));
  CHECK(computes_natively(DType::f16, target_with("aarch64", {"fullfp16"})));
  CHECK(!converts_natively(DType::f16, target_with("armv7", {"neon", "vfp3"})));
  CHECK(converts_natively(DType::f16, target_with("armv7", {"neon", "vfp4", "fp16"})));
  CHECK(!converts_natively(DType::f16, target_with("riscv64", {"d", "f"})));
  CHECK(converts_natively(DType::f16, target_with("riscv64", {"d", "f", "zfhmin"})));
  CHECK(!converts_natively(DType::f16, target_with("riscv64", {"v", "zfh"})));
  CHECK(computes_natively(DType::f16, target_with("riscv64", {"v", "zfh", "zvfh", "zvfhmin"})));
  for (const char* arch : {"x86_64", "aarch64", "armv7", "riscv64"})
    CHECK(!converts_natively(DType::bf16, target_with(arch, {"f16c", "fullfp16", "zfh", "bf16", "avx512bf16"})));
}
