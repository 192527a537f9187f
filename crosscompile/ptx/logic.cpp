// PTX ISA, "Logic and Shift Instructions", and the integer instructions that examine single bits. These track unwritten
// bits individually.
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

// A result bit of "and" is known if one operand has a written 0 there, a result bit of "or" if one has a written 1.
void conjunction(Thread& thread, const Instruction& one) {
  const Word a = thread.value(one.operands[1]), b = thread.value(one.operands[2]);
  const Word p = thread.unwritten(one.operands[1]), q = thread.unwritten(one.operands[2]);
  thread.set(one.operands[0], a & b, (p & q) | (p & b) | (q & a));
}
void disjunction(Thread& thread, const Instruction& one) {
  const Word a = thread.value(one.operands[1]), b = thread.value(one.operands[2]);
  const Word p = thread.unwritten(one.operands[1]), q = thread.unwritten(one.operands[2]);
  thread.set(one.operands[0], a | b, (p & q) | (p & ~b) | (q & ~a));
}
void exclusive(Thread& thread, const Instruction& one) {
  thread.set(one.operands[0], thread.value(one.operands[1]) ^ thread.value(one.operands[2]),
             thread.unwritten(one.operands[1]) | thread.unwritten(one.operands[2]));
}
void complement(Thread& thread, const Instruction& one) {
  thread.set(one.operands[0], ~thread.value(one.operands[1]), thread.unwritten(one.operands[1]));
}

// Shift amounts larger than the width are clamped to the width.
template <class T, class Move>
void shift(Thread& thread, const Instruction& one, Move move) {
  const Operand &a = one.operands[1], &b = one.operands[2];
  const unsigned by = static_cast<unsigned>(std::min<Word>(thread.value(b) & 0xffffffff, 8 * sizeof(T)));
  const Word lost = (thread.unwritten(b) & 0xffffffff) != 0
                        ? ~Word{0}
                        : static_cast<Word>(move(from_word<T>(thread.unwritten(a)), by));
  thread.set(one.operands[0], to_word(move(from_word<T>(thread.value(a)), by)), lost);
}
template <class T>
struct ShiftLeft {
  static void run(Thread& thread, const Instruction& one) {
    shift<std::make_unsigned_t<T>>(thread, one, [](auto value, unsigned by) {
      return static_cast<decltype(value)>(by >= 8 * sizeof value ? 0 : static_cast<Word>(value) << by);
    });
  }
};
template <class T>
struct ShiftRight {
  static void run(Thread& thread, const Instruction& one) {
    shift<T>(thread, one, [](T value, unsigned by) {
      if (by >= 8 * sizeof value) return static_cast<T>(value < T{0} ? -1 : 0);
      return static_cast<T>(value >> by);
    });
  }
};

// Shifts the 64-bit concatenation b:a.
void funnel(Thread& thread, const Instruction& one) {
  const Word both = (thread.value(one.operands[2]) << 32) | (thread.value(one.operands[1]) & 0xffffffff);
  const auto by = static_cast<unsigned>(thread.value(one.operands[3]) & 0xffffffff);
  const unsigned bits = one.mode % 2 != 0 ? by & 31 : std::min(by, 32U);
  const Word result = one.mode < 2 ? (both << bits) >> 32 : both >> bits;
  thread.set(one.operands[0], result,
             spoiled<std::uint32_t>(thread, one.operands[1], one.operands[2], one.operands[3]));
}

void look_up(Thread& thread, const Instruction& one) {
  const Word a = thread.value(one.operands[1]), b = thread.value(one.operands[2]), c = thread.value(one.operands[3]);
  const Word table = one.operands.at(4).value;
  Word result = 0;
  for (unsigned row = 0; row < 8; ++row)
    if ((table >> row & 1) != 0)
      result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  thread.set(one.operands[0], result,
             thread.unwritten(one.operands[1]) | thread.unwritten(one.operands[2]) | thread.unwritten(one.operands[3]));
}

// Picks bytes of b:a by the low three bits of each of c's lower four nibbles; a nibble's top bit replicates the sign.
void permute(Thread& thread, const Instruction& one) {
  const Word both = (thread.value(one.operands[2]) << 32) | (thread.value(one.operands[1]) & 0xffffffff);
  const Word lost_both = (thread.unwritten(one.operands[2]) << 32) | (thread.unwritten(one.operands[1]) & 0xffffffff);
  const Word c = thread.value(one.operands[3]);
  Word result = 0, lost = thread.unwritten(one.operands[3]) != 0 ? ~Word{0} : 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned nibble = c >> (4 * i) & 0xf;
    Word byte = both >> (8 * (nibble & 7)) & 0xff;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
    lost |= (lost_both >> (8 * (nibble & 7)) & 0xff) << (8 * i);
  }
  thread.set(one.operands[0], result, lost);
}

template <class T>
struct Extract {  // bfe
  static void run(Thread& thread, const Instruction& one) {
    constexpr unsigned kBits = 8 * sizeof(T);
    const auto a = from_word<std::make_unsigned_t<T>>(thread.value(one.operands[1]));
    const unsigned begin = thread.value(one.operands[2]) & 0xff, length = thread.value(one.operands[3]) & 0xff;
    Word result = begin >= kBits ? 0 : static_cast<Word>(a) >> begin & mask_of(length);
    if (std::is_signed_v<T> && length > 0) {
      const bool is_negative = (a >> std::min(begin + length - 1, kBits - 1) & 1) != 0;
      if (is_negative && length < 64) result |= ~mask_of(std::min(length, begin >= kBits ? 0U : kBits - begin));
    }
    // Bits beside those that are taken may be unwritten. A sign fills the rest.
    const auto unwritten = from_word<std::make_unsigned_t<T>>(thread.unwritten(one.operands[1]));
    Word lost = begin >= kBits ? 0 : static_cast<Word>(unwritten) >> begin & mask_of(length);
    const bool is_sign_lost =
        std::is_signed_v<T> && length > 0 && (unwritten >> std::min(begin + length - 1, kBits - 1) & 1) != 0;
    if (is_sign_lost) lost = ~Word{0};
    thread.set(one.operands[0], result, lost | spoiled<std::uint8_t>(thread, one.operands[2], one.operands[3]));
  }
};
template <class T>
struct Insert {  // bfi
  static void run(Thread& thread, const Instruction& one) {
    const unsigned begin = thread.value(one.operands[3]) & 0xff, length = thread.value(one.operands[4]) & 0xff;
    const Word mask = begin >= 64 ? 0 : mask_of(length) << begin;
    const auto merged = [&](Word a, Word b) { return (b & ~mask) | (begin >= 64 ? 0 : a << begin & mask); };
    const Word lost = spoiled<std::uint8_t>(thread, one.operands[3], one.operands[4]);
    thread.set(one.operands[0], merged(thread.value(one.operands[1]), thread.value(one.operands[2])),
               lost | merged(thread.unwritten(one.operands[1]), thread.unwritten(one.operands[2])));
  }
};

template <class T>
void count(Thread& thread, const Instruction& one) {
  const T a = from_word<T>(thread.value(one.operands[1]));
  const int result = one.mode == 0 ? std::popcount(a) : std::countl_zero(a);
  thread.set(one.operands[0], static_cast<Word>(result), spoiled<T>(thread, one.operands[1]));
}
template <class T>
void reverse(Thread& thread, const Instruction& one) {
  const Word a = thread.value(one.operands[1]);
  Word result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) result |= (a >> i & 1) << (8 * sizeof(T) - 1 - i);
  thread.set(one.operands[0], result, spoiled<T>(thread, one.operands[1]));
}

// "bfind": the highest bit that differs from the sign, or with .shiftamt how far it is from the top; -1 if there is
// none.
template <class T>
struct Find {
  static void run(Thread& thread, const Instruction& one) {
    using U = std::make_unsigned_t<T>;
    const T a = from_word<T>(thread.value(one.operands[1]));
    const U bits = static_cast<U>(a < T{0} ? ~a : a);
    const int zeros = std::countl_zero(bits), top = static_cast<int>(8 * sizeof(T)) - 1;
    const int result = bits == 0 ? -1 : one.mode != 0 ? zeros : top - zeros;
    thread.set(one.operands[0], to_word(result), spoiled<T>(thread, one.operands[1]));
  }
};

template <class T>
struct Zero {  // cnot
  static constexpr auto run = unary<T, [](T a) { return static_cast<T>(a == T{0} ? 1 : 0); }>;
};

Execute of_bits(Instruction& one, const std::string& name) {
  const bool is_long = bits_of(one.type) == 64;
  if (name == "brev") return is_long ? reverse<std::uint64_t> : reverse<std::uint32_t>;
  one.mode = name == "popc" ? 0 : 1;
  return is_long ? count<std::uint64_t> : count<std::uint32_t>;
}

}  // namespace

bool decode_logic(Opcode& opcode, Instruction& one) {
  if (!opcode.is({"and", "or", "xor", "not", "shl", "shr", "shf", "lop3", "prmt", "bfe", "bfi", "popc", "clz", "brev",
                  "bfind", "cnot"}))
    return false;
  const std::string& name = opcode.name();
  if (name == "shf") {
    const bool left = opcode.take("l");
    if (!left && !opcode.take("r")) throw ParseError("expected .l or .r in '" + one.text + "'");
    const bool wraps = opcode.take("wrap");
    if (!wraps && !opcode.take("clamp")) throw ParseError("expected .wrap or .clamp in '" + one.text + "'");
    one.mode = (left ? 0 : 2) + (wraps ? 1 : 0);
  }
  if (name == "bfind") one.mode = opcode.take("shiftamt") ? 1 : 0;
  one.type = opcode.take_type();
  const bool is_unary = opcode.is({"not", "popc", "clz", "brev", "bfind", "cnot"});
  expect_operands(one, is_unary                                           ? 2
                       : name == "lop3" || name == "bfi"                  ? 5
                       : name == "shf" || name == "prmt" || name == "bfe" ? 4
                                                                          : 3);
  if (name == "and") one.execute = conjunction;
  if (name == "or") one.execute = disjunction;
  if (name == "xor") one.execute = exclusive;
  if (name == "not") one.execute = complement;
  if (name == "shl") one.execute = for_integer<ShiftLeft>(one.type);
  if (name == "shr") one.execute = for_integer<ShiftRight>(one.type);
  if (name == "shf") one.execute = funnel;
  if (name == "lop3") one.execute = look_up;
  if (name == "prmt") one.execute = permute;
  if (name == "bfe") one.execute = for_integer<Extract>(one.type);
  if (name == "bfi") one.execute = for_integer<Insert>(one.type);
  if (name == "bfind") one.execute = for_integer<Find>(one.type);
  if (name == "cnot") one.execute = for_integer<Zero>(one.type);
  if (name == "popc" || name == "clz" || name == "brev") one.execute = of_bits(one, name);
  return true;
}

}  // namespace ferry::ptx
