// PTX ISA, "Floating-Point Instructions" with exact or correctly rounded results.
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

template <class T>
T operand_of(const Thread& thread, const Instruction& one, std::size_t i) {
  return flushed(from_word<T>(thread.value(one.operands[i])), one.flushes);
}

enum Operation { kAdd, kSub, kMul, kFma, kDiv, kSqrt, kRcp, kMin, kMax, kAbs, kNeg, kCopysign };

// A NaN operand gives NaN only with .NaN, otherwise the other operand; -0 is below +0.
template <class T>
T least(const Instruction& one, T a, T b) {
  if (std::isnan(a) || std::isnan(b)) {
    if (one.keeps_nan) return std::numeric_limits<T>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <class T>
T result_of(const Instruction& one, T a, T b, T c) {
  // volatile keeps the compiler from computing before the rounding mode is set.
  volatile T x = a, y = b, z = c;
  switch (static_cast<Operation>(one.mode)) {
    case kAdd: return rounded<T>(one, [&] { return x + y; });
    case kSub: return rounded<T>(one, [&] { return x - y; });
    case kMul: return rounded<T>(one, [&] { return x * y; });
    case kFma: return rounded<T>(one, [&] { return std::fma(T{x}, T{y}, T{z}); });
    case kDiv: return rounded<T>(one, [&] { return x / y; });
    case kSqrt: return rounded<T>(one, [&] { return std::sqrt(T{x}); });
    case kRcp: return rounded<T>(one, [&] { return T{1} / x; });
    case kMin: return least(one, a, b);
    case kMax: return -least(one, T{-a}, T{-b});
    case kAbs: return std::fabs(a);
    case kNeg: return -a;
    case kCopysign: break;
  }
  return std::copysign(b, a);  // "copy sign bit of a into value of b"
}

template <class T>
void compute(Thread& thread, const Instruction& one) {
  const std::size_t count = one.operands.size();
  Word lost = 0;
  for (std::size_t i = 1; i < count; ++i) lost |= spoiled<T>(thread, one.operands[i]);
  const T a = operand_of<T>(thread, one, 1), b = count > 2 ? operand_of<T>(thread, one, 2) : T{0},
          c = count > 3 ? operand_of<T>(thread, one, 3) : T{0};
  thread.set(one.operands[0], to_word(result_of(one, a, b, c)), lost);
}

struct Known {
  const char* name;
  Operation operation;
  std::size_t operands;
};
constexpr Known kKnown[] = {
    {"add", kAdd, 3}, {"sub", kSub, 3},   {"mul", kMul, 3},           {"fma", kFma, 4}, {"mad", kFma, 4},
    {"div", kDiv, 3}, {"sqrt", kSqrt, 2}, {"rcp", kRcp, 2},           {"min", kMin, 3}, {"max", kMax, 3},
    {"abs", kAbs, 2}, {"neg", kNeg, 2},   {"copysign", kCopysign, 3},
};

// "testp.KIND.f32 p, a".
template <class T>
void test(Thread& thread, const Instruction& one) {
  const T a = from_word<T>(thread.value(one.operands[1]));
  const int kind = std::fpclassify(a);
  const bool found[] = {std::isfinite(a), std::isinf(a),     kind != FP_NAN,
                        kind == FP_NAN,   kind == FP_NORMAL, kind == FP_SUBNORMAL};
  thread.set(one.operands[0], found[one.mode] ? 1 : 0, spoiled<T>(thread, one.operands[1]));
}

bool decode_test(Opcode& opcode, Instruction& one) {
  constexpr const char* kKinds[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  one.mode = -1;
  for (int i = 0; i < 6; ++i)
    if (opcode.take(kKinds[i])) one.mode = i;
  if (one.mode < 0) throw ParseError("expected a kind of number in '" + one.text + "'");
  one.type = opcode.take_type();
  expect_operands(one, 2);
  one.execute = one.type == Type::f64 ? test<double> : test<float>;
  return true;
}

}  // namespace

bool decode_float(Opcode& opcode, Instruction& one) {
  if (opcode.name() == "testp") return decode_test(opcode, one);
  for (const Known& known : kKnown) {
    if (opcode.name() != known.name) continue;
    Opcode copy = opcode;
    const Type type = copy.take_type();
    if (type != Type::f32 && type != Type::f64) return false;
    if (copy.take("approx") || copy.take("full")) return false;
    one.type = opcode.take_type();
    take_rounding(opcode, one);
    one.flushes = opcode.take("ftz");
    one.saturates = opcode.take("sat");
    one.keeps_nan = opcode.take("NaN");
    one.mode = known.operation;
    expect_operands(one, known.operands);
    one.execute = type == Type::f64 ? compute<double> : compute<float>;
    return true;
  }
  return false;
}

}  // namespace ferry::ptx
