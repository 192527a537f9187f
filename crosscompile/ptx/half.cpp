// PTX ISA, "Half Precision Floating-Point Instructions": arithmetic of float16 and bfloat16, scalar or in pairs.
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

using Exact = __float128;  // exact for a product and a sum of narrow floats

enum Operation { kAdd, kSub, kMul, kFma, kMin, kMax, kAbs, kNeg };

double least(const Instruction& one, double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return one.keeps_nan ? std::numeric_limits<double>::quiet_NaN() : std::isnan(a) ? b : a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

// Converts to double by truncation with a sticky last bit, so that a second rounding gives the correct result.
double sticky(Exact value) {
  const auto near = static_cast<double>(value);
  if (!std::isfinite(near) || static_cast<Exact>(near) == value) return near;
  const Word bits = std::bit_cast<Word>(near);
  const bool is_beyond = (static_cast<Exact>(near) > value) == (near > 0);
  const Word inner = is_beyond ? bits - 1 : bits;
  return std::bit_cast<double>(inner | 1);
}

std::uint16_t computed(const Instruction& one, std::uint16_t x, std::uint16_t y, std::uint16_t z, bool is_bf16) {
  const auto wide = [&](std::uint16_t bits) { return is_bf16 ? from_bf16(bits) : from_f16(bits); };
  const auto narrow = [&](Exact value) { return is_bf16 ? to_bf16(sticky(value)) : to_f16(sticky(value)); };
  const Exact a = wide(x), b = wide(y), c = wide(z);
  switch (static_cast<Operation>(one.mode)) {
    case kAdd: return narrow(a + b);
    case kSub: return narrow(a - b);
    case kMul: return narrow(a * b);
    case kFma: return narrow(a * b + c);
    case kMin: return narrow(least(one, wide(x), wide(y)));
    case kMax: return narrow(-least(one, -wide(x), -wide(y)));
    case kAbs: return static_cast<std::uint16_t>(x & 0x7fff);
    case kNeg: break;
  }
  return static_cast<std::uint16_t>(x ^ 0x8000);
}

void compute(Thread& thread, const Instruction& one) {
  const bool is_bf16 = one.type == Type::bf16 || one.type == Type::bf16x2;
  const std::size_t count = one.operands.size();
  const auto part = [&](std::size_t i, unsigned half) {
    return i < count ? static_cast<std::uint16_t>(thread.value(one.operands[i]) >> (16 * half)) : std::uint16_t{0};
  };
  Word result = 0, lost = 0;
  for (unsigned half = 0; half < bits_of(one.type) / 16; ++half) {
    result |= static_cast<Word>(computed(one, part(1, half), part(2, half), part(3, half), is_bf16)) << (16 * half);
    for (std::size_t i = 1; i < count; ++i)
      if ((thread.unwritten(one.operands[i]) >> (16 * half) & 0xffff) != 0) lost |= Word{0xffff} << (16 * half);
  }
  thread.set(one.operands[0], result, lost);
}

struct Known {
  const char* name;
  Operation operation;
  std::size_t operands;
};
constexpr Known kKnown[] = {{"add", kAdd, 3}, {"sub", kSub, 3}, {"mul", kMul, 3}, {"fma", kFma, 4},
                            {"min", kMin, 3}, {"max", kMax, 3}, {"abs", kAbs, 2}, {"neg", kNeg, 2}};

}  // namespace

bool decode_half(Opcode& opcode, Instruction& one) {
  for (const Known& known : kKnown) {
    if (opcode.name() != known.name) continue;
    one.type = opcode.take_type();
    opcode.take("rn");
    one.keeps_nan = opcode.take("NaN");
    one.mode = known.operation;
    expect_operands(one, known.operands);
    one.execute = compute;
    return true;
  }
  return false;
}

}  // namespace ferry::ptx
