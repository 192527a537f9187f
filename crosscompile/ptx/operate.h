// Helpers for instructions that compute a register from others.
#pragma once

#include <cfenv>
#include <cmath>

#include "crosscompile/ptx/opcode.h"
#include "crosscompile/ptx/thread.h"

namespace ferry::ptx {

inline void expect_operands(const Instruction& one, std::size_t count) {
  if (one.operands.size() != count)
    throw ParseError("expected " + std::to_string(count) + " operands of '" + one.text + "', got " +
                     std::to_string(one.operands.size()));
}

// Returns the unwritten bits of a result: all bits, if any bit of an operand within the operand's type is unwritten.
template <class T, class... Operands>
Word spoiled(const Thread& thread, const Operands&... operands) {
  const Word mask = mask_of(8 * sizeof(T));
  return ((thread.unwritten(operands) & mask) | ...) != 0 ? ~Word{0} : 0;
}

template <class T, auto op>
void unary(Thread& thread, const Instruction& one) {
  const Operand& a = one.operands[1];
  thread.set(one.operands[0], to_word(static_cast<T>(op(from_word<T>(thread.value(a))))), spoiled<T>(thread, a));
}

template <class T, auto op>
void binary(Thread& thread, const Instruction& one) {
  const Operand &a = one.operands[1], &b = one.operands[2];
  thread.set(one.operands[0], to_word(static_cast<T>(op(from_word<T>(thread.value(a)), from_word<T>(thread.value(b))))),
             spoiled<T>(thread, a, b));
}

template <class T, auto op>
void ternary(Thread& thread, const Instruction& one) {
  const Operand &a = one.operands[1], &b = one.operands[2], &c = one.operands[3];
  thread.set(one.operands[0],
             to_word(static_cast<T>(
                 op(from_word<T>(thread.value(a)), from_word<T>(thread.value(b)), from_word<T>(thread.value(c))))),
             spoiled<T>(thread, a, b, c));
}

// Returns the instance of `Make` for an integer type of 16 to 64 bits; `Make` is a class template with a static
// function `run`.
template <template <class> class Make>
Execute for_integer(Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16: return Make<std::uint16_t>::run;
    case Type::s16: return Make<std::int16_t>::run;
    case Type::b32:
    case Type::u32: return Make<std::uint32_t>::run;
    case Type::s32: return Make<std::int32_t>::run;
    case Type::b64:
    case Type::u64: return Make<std::uint64_t>::run;
    case Type::s64: return Make<std::int64_t>::run;
    case Type::pred:
    case Type::b8:
    case Type::u8:
    case Type::s8:
    case Type::f16:
    case Type::bf16:
    case Type::f32:
    case Type::f16x2:
    case Type::bf16x2:
    case Type::f64: break;
  }
  throw ParseError("expected an integer type of 16, 32 or 64 bits");
}

template <class T>
T flushed(T value, bool flushes) {
  return flushes && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T{0}, value) : value;
}

inline int direction_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest: break;
    case Rounding::zero: return FE_TOWARDZERO;
    case Rounding::down: return FE_DOWNWARD;
    case Rounding::up: return FE_UPWARD;
  }
  return FE_TONEAREST;
}

// Applies .ftz, .sat and the rounding mode to a floating-point operation.
template <class T, class Op>
T rounded(const Instruction& one, Op&& op) {
  volatile T result = 0;
  if (one.rounding == Rounding::nearest) {
    result = op();
  } else {
    std::fesetround(direction_of(one.rounding));
    result = op();
    std::fesetround(FE_TONEAREST);
  }
  const T kept = flushed<T>(result, one.flushes);
  if (!one.saturates) return kept;
  return std::isnan(kept) ? T{0} : std::fmin(std::fmax(kept, T{0}), T{1});
}

inline void take_rounding(Opcode& opcode, Instruction& one) {
  if (opcode.take("rz")) one.rounding = Rounding::zero;
  if (opcode.take("rm")) one.rounding = Rounding::down;
  if (opcode.take("rp")) one.rounding = Rounding::up;
  opcode.take("rn");
}

}  // namespace ferry::ptx
