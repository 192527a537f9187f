// PTX ISA, the instructions with .approx and .full: the exact result plus an error within the document's bounds, which
// varies with the operands, so that code that relies on a better result is detected.
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

// Returns a pseudo-random number in [-1, 1] that depends only on the operands.
double noise(Word a, Word b = 0) {
  Word x = a * 0x9e3779b97f4a7c15 + b + 0x7f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return static_cast<double>((x ^ x >> 31) >> 11) * 0x1p-52 - 1;
}

struct Bounds {
  double relative, absolute;
};

float off(double exact, Word operand, Word other, const Bounds& bounds, bool flushes) {
  if (std::isnan(exact)) return std::numeric_limits<float>::quiet_NaN();
  if (std::isinf(exact) || exact == 0) return static_cast<float>(exact);
  const double error = noise(operand, other) * (std::fabs(exact) * bounds.relative + bounds.absolute);
  return flushed(static_cast<float>(exact + error), flushes);
}

constexpr double kUlp = 0x1p-23;  // relative unit of a significand just above a power of two

enum Function { kRcp, kSqrt, kRsqrt, kSin, kCos, kLg2, kEx2, kTanh };

double exact_of(Function function, double x) {
  switch (function) {
    case kRcp: return 1 / x;
    case kSqrt: return std::sqrt(x);
    case kRsqrt: return 1 / std::sqrt(x);
    case kSin: return std::sin(x);
    case kCos: return std::cos(x);
    case kLg2: return std::log2(x);
    case kEx2: return std::exp2(x);
    case kTanh: break;
  }
  return std::tanh(x);
}

Bounds bounds_of(Function function, double x) {
  switch (function) {
    case kRcp: return {kUlp, 0};
    case kSqrt: return {0x1p-23, 0};
    case kRsqrt: return {std::exp2(-22.9), 0};
    case kSin:
    case kCos: return {0, std::fabs(x) <= 2 * M_PI ? std::exp2(-20.5) : std::exp2(-14.7)};
    case kLg2: return x > 0.5 && x < 2 ? Bounds{0, 0x1p-22} : Bounds{0x1p-22, 0};
    case kEx2: return {std::exp2(-22.5), 0};
    case kTanh: break;
  }
  return {0x1p-11, 0};
}

void approximate(Thread& thread, const Instruction& one) {
  const Word operand = thread.value(one.operands[1]);
  const auto function = static_cast<Function>(one.mode);
  const double x = flushed(from_word<float>(operand), one.flushes);
  // Only zeros, infinities and NaN stay exact: the document promises no exact result for sin(0), lg2(1) or ex2 of whole
  // numbers.
  const float result = off(exact_of(function, x), operand, 0, bounds_of(function, x), one.flushes);
  thread.set(one.operands[0], to_word(result), spoiled<float>(thread, one.operands[1]));
}

void divide(Thread& thread, const Instruction& one) {
  const Word a = thread.value(one.operands[1]), b = thread.value(one.operands[2]);
  const double x = flushed(from_word<float>(a), one.flushes), y = flushed(from_word<float>(b), one.flushes);
  // .approx: "for 2^126 < |b| < 2^128 the result is 0 for finite a".
  const bool is_huge = one.mode == 0 && std::fabs(y) > 0x1p126 && !std::isinf(y);
  const double exact = is_huge && std::isfinite(x) ? std::copysign(0.0, x * y) : x / y;
  thread.set(one.operands[0], to_word(off(exact, a, b, {2 * kUlp, 0}, one.flushes)),
             spoiled<float>(thread, one.operands[1], one.operands[2]));
}

// Operates on the upper halves of float64 numbers; the result's lower half is 0.
void approximate_upper(Thread& thread, const Instruction& one) {
  const Word operand = thread.value(one.operands[1]) & ~Word{0xffffffff};
  const double x = flushed(from_word<double>(operand), one.flushes);
  const double exact = exact_of(static_cast<Function>(one.mode), x);
  const bool is_plain = std::isfinite(exact) && exact != 0;
  const double result = flushed(is_plain ? exact * (1 + noise(operand) * 0x1p-20) : exact, one.flushes);
  thread.set(one.operands[0], to_word(result) & ~Word{0xffffffff}, spoiled<double>(thread, one.operands[1]));
}

// "rsqrt.approx.f64": a relative error of at most 2^-32, as far as it is documented.
void approximate_double(Thread& thread, const Instruction& one) {
  const Word operand = thread.value(one.operands[1]);
  const double exact = exact_of(static_cast<Function>(one.mode), from_word<double>(operand));
  const double result = std::isfinite(exact) ? exact * (1 + noise(operand) * 0x1p-32) : exact;
  thread.set(one.operands[0], to_word(result), spoiled<double>(thread, one.operands[1]));
}

constexpr std::pair<const char*, Function> kFunctions[] = {
    {"rcp", kRcp}, {"sqrt", kSqrt}, {"rsqrt", kRsqrt}, {"sin", kSin},
    {"cos", kCos}, {"lg2", kLg2},   {"ex2", kEx2},     {"tanh", kTanh},
};

}  // namespace

bool decode_approximate(Opcode& opcode, Instruction& one) {
  if (opcode.name() == "div") {
    if (opcode.take("full"))
      one.mode = 1;
    else if (!opcode.take("approx"))
      return false;
    one.flushes = opcode.take("ftz");
    one.type = opcode.take_type();
    if (one.type != Type::f32) throw ParseError("expected f32 for '" + one.text + "'");
    expect_operands(one, 3);
    one.execute = divide;
    return true;
  }
  for (const auto& [name, function] : kFunctions) {
    if (opcode.name() != name) continue;
    if (!opcode.take("approx")) return false;
    one.flushes = opcode.take("ftz");
    one.type = opcode.take_type();
    one.mode = function;
    expect_operands(one, 2);
    if (one.type == Type::f32)
      one.execute = approximate;
    else if (one.type == Type::f64 && one.flushes && (function == kRcp || function == kRsqrt))
      one.execute = approximate_upper;
    else if (one.type == Type::f64 && function == kRsqrt)
      one.execute = approximate_double;
    else
      throw ParseError("the interpreter does not know '" + one.text + "'");
    return true;
  }
  return false;
}

}  // namespace ferry::ptx
