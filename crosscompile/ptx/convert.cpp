// PTX ISA, "Data Movement and Conversion Instructions: cvt".
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

bool is_float(Type type) { return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64; }

__int128 integer_of(Type type, Word word) {
  const unsigned bits = bits_of(type);
  const Word low = word & mask_of(bits);
  if (is_signed(type) && (low >> (bits - 1) & 1) != 0)
    return static_cast<__int128>(low) - (static_cast<__int128>(1) << bits);
  return static_cast<__int128>(low);
}

double float_of(Type type, Word word) {
  if (type == Type::f16) return from_f16(static_cast<std::uint16_t>(word));
  if (type == Type::bf16) return from_bf16(static_cast<std::uint16_t>(word));
  if (type == Type::f32) return from_word<float>(word);
  return from_word<double>(word);
}

double whole(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest: break;
    case Rounding::zero: return std::trunc(value);
    case Rounding::down: return std::floor(value);
    case Rounding::up: return std::ceil(value);
  }
  return std::nearbyint(value);
}

__int128 lowest(Type type) { return is_signed(type) ? -(static_cast<__int128>(1) << (bits_of(type) - 1)) : 0; }
__int128 highest(Type type) { return (static_cast<__int128>(1) << (bits_of(type) - (is_signed(type) ? 1 : 0))) - 1; }

// Clamps values outside of the type to its range; NaN becomes 0, or the highest bit alone if either type has 64 bits.
__int128 clamped_integer(double value, const Instruction& one) {
  if (std::isnan(value)) {
    const bool is_long = one.from == Type::f64 || bits_of(one.type) == 64;
    return !is_long ? 0 : is_signed(one.type) ? lowest(one.type) : static_cast<__int128>(1) << (bits_of(one.type) - 1);
  }
  const double rounded_value = whole(value, one.rounding);
  if (rounded_value <= static_cast<double>(lowest(one.type))) return lowest(one.type);
  if (rounded_value >= std::ldexp(1.0, static_cast<int>(bits_of(one.type)) - (is_signed(one.type) ? 1 : 0)))
    return highest(one.type);
  return static_cast<__int128>(rounded_value);
}

Word narrow_float(const Instruction& one, double value) {
  double kept = value;
  if (one.saturates) kept = std::isnan(kept) ? 0 : std::fmin(std::fmax(kept, 0.0), 1.0);
  if (one.mode != 0 && kept < 0) kept = 0;  // .relu
  if (one.type == Type::f64) return to_word(kept);
  if (one.type == Type::f32) {
    if (one.rounding == Rounding::nearest) return to_word(flushed(static_cast<float>(kept), one.flushes));
    std::fesetround(direction_of(one.rounding));
    volatile double input = kept;
    volatile float output = static_cast<float>(input);
    std::fesetround(FE_TONEAREST);
    return to_word(flushed<float>(output, one.flushes));
  }
  if (one.rounding != Rounding::nearest)
    throw Fault(FaultKind::invalid_launch, "'" + one.text + "': of narrow floats there is .rn alone");
  return one.type == Type::f16 ? to_f16(kept) : to_bf16(kept);
}

void convert(Thread& thread, const Instruction& one) {
  const Operand& a = one.operands[1];
  const Word word = thread.value(a);
  const Word mask = mask_of(bits_of(one.from));
  Word lost = (thread.unwritten(a) & mask) != 0 ? ~Word{0} : 0, result = 0;
  if (!is_float(one.type) && !is_float(one.from)) {
    __int128 value = integer_of(one.from, word);
    if (one.saturates) {
      value = std::clamp(value, lowest(one.type), highest(one.type));
    } else if (!is_signed(one.from)) {
      lost = thread.unwritten(a) & mask;  // tracked bit by bit
    }
    result = static_cast<Word>(integer_of(one.type, static_cast<Word>(value)));
  } else if (!is_float(one.type)) {
    double value = float_of(one.from, word);
    if (one.from == Type::f32) value = flushed(static_cast<float>(value), one.flushes);
    result = static_cast<Word>(clamped_integer(value, one));
  } else if (!is_float(one.from)) {
    const __int128 value = integer_of(one.from, word);
    if (one.type == Type::f32 && one.rounding == Rounding::nearest)
      result = to_word(static_cast<float>(value));
    else if (one.type == Type::f16)
      result = to_f16(static_cast<double>(std::clamp<__int128>(value, -100000, 100000)));
    else if (one.type == Type::bf16)
      result = to_bf16(static_cast<double>(
          value / 4096 * 4096 == value || (value < (1 << 24) && value > -(1 << 24)) ? value : value | 1));
    else {
      std::fesetround(direction_of(one.rounding));
      volatile __int128 input = value;
      volatile double output = static_cast<double>(static_cast<__int128>(input));
      volatile float single = static_cast<float>(static_cast<__int128>(input));
      std::fesetround(FE_TONEAREST);
      result = one.type == Type::f32 ? to_word(float{single}) : to_word(double{output});
    }
  } else {
    double value = float_of(one.from, word);
    if (one.from == Type::f32) value = flushed(static_cast<float>(value), one.flushes);
    if (one.is_whole) value = whole(value, one.rounding);
    Instruction plain = one;
    if (one.is_whole) plain.rounding = Rounding::nearest;
    result = narrow_float(plain, value);
  }
  thread.set(one.operands[0], result, lost);
}

// "cvt.rn.f16x2.f32 d, a, b": a goes to the upper half, b to the lower.
void pack(Thread& thread, const Instruction& one) {
  const auto narrow = [&](std::size_t i) -> Word {
    const double value = from_word<float>(thread.value(one.operands[i]));
    return one.type == Type::f16x2 ? to_f16(value) : to_bf16(value);
  };
  Word lost = 0;
  if (thread.unwritten(one.operands[1]) != 0) lost |= 0xffff0000;
  if (thread.unwritten(one.operands[2]) != 0) lost |= 0xffff;
  thread.set(one.operands[0], narrow(1) << 16 | narrow(2), lost);
}

}  // namespace

bool decode_convert(Opcode& opcode, Instruction& one) {
  if (opcode.name() != "cvt") return false;
  constexpr std::pair<const char*, Rounding> kWhole[] = {
      {"rni", Rounding::nearest}, {"rzi", Rounding::zero}, {"rmi", Rounding::down}, {"rpi", Rounding::up}};
  for (const auto& [name, rounding] : kWhole) {
    if (!opcode.take(name)) continue;
    one.rounding = rounding;
    one.is_whole = true;
  }
  take_rounding(opcode, one);
  one.flushes = opcode.take("ftz");
  one.saturates = opcode.take("sat");
  one.mode = opcode.take("relu") ? 1 : 0;
  one.type = opcode.take_type();
  one.from = opcode.take_type();
  if (one.type == Type::f16x2 || one.type == Type::bf16x2) {
    if (one.mode != 0 || one.from != Type::f32) throw ParseError("the interpreter does not know '" + one.text + "'");
    expect_operands(one, 3);
    one.execute = pack;
    return true;
  }
  if (is_float(one.from) && !is_float(one.type) && !one.is_whole)
    throw ParseError("expected a rounding to whole numbers in '" + one.text + "'");
  expect_operands(one, 2);
  one.execute = convert;
  return true;
}

}  // namespace ferry::ptx
