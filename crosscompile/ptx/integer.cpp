// PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions".
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

template <class T>
T wrapped(Wide<T> value) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(value));
}

template <class T>
struct Add {
  static constexpr auto run = binary<T, [](T a, T b) { return wrapped<T>(Wide<T>{a} + b); }>;
};
template <class T>
struct Sub {
  static constexpr auto run = binary<T, [](T a, T b) { return wrapped<T>(Wide<T>{a} - b); }>;
};
template <class T>
struct MulLow {
  static constexpr auto run = binary<T, [](T a, T b) { return wrapped<T>(Wide<T>{a} * b); }>;
};
template <class T>
struct MulHigh {
  static constexpr auto run = binary<T, [](T a, T b) { return wrapped<T>((Wide<T>{a} * b) >> (8 * sizeof(T))); }>;
};
template <class T>
struct MadLow {
  static constexpr auto run =
      ternary<T, [](T a, T b, T c) { return wrapped<T>(static_cast<Wide<T>>(wrapped<T>(Wide<T>{a} * b)) + c); }>;
};
template <class T>
struct MadHigh {
  static constexpr auto run = ternary<T, [](T a, T b, T c) {
    return wrapped<T>(static_cast<Wide<T>>(wrapped<T>((Wide<T>{a} * b) >> (8 * sizeof(T)))) + c);
  }>;
};
template <class T>
struct Min {
  static constexpr auto run = binary<T, [](T a, T b) { return a < b ? a : b; }>;
};
template <class T>
struct Max {
  static constexpr auto run = binary<T, [](T a, T b) { return b < a ? a : b; }>;
};
template <class T>
struct Abs {
  static constexpr auto run = unary<T, [](T a) { return a < T{0} ? wrapped<T>(Wide<T>{0} - a) : a; }>;
};
template <class T>
struct Neg {
  static constexpr auto run = unary<T, [](T a) { return wrapped<T>(Wide<T>{0} - a); }>;
};

template <class T>
struct Sad {  // c + |a - b|
  static constexpr auto run = ternary<T, [](T a, T b, T c) {
    return wrapped<T>(static_cast<Wide<T>>(wrapped<T>(a < b ? Wide<T>{b} - a : Wide<T>{a} - b)) + c);
  }>;
};

// The low 24 bits of an operand, with their sign if the type has one.
template <class T>
Wide<T> low24(T a) {
  return std::is_signed_v<T> ? static_cast<Wide<T>>(static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << 8) >> 8)
                             : static_cast<Wide<T>>(static_cast<std::uint32_t>(a) & 0xffffff);
}
template <class T>
struct Mul24 {
  static constexpr auto run = binary<T, [](T a, T b) { return wrapped<T>(low24(a) * low24(b)); }>;
};
template <class T>
struct Mad24 {
  static constexpr auto run = ternary<T, [](T a, T b, T c) { return wrapped<T>(low24(a) * low24(b) + c); }>;
};

// "Division by zero yields an unspecified, machine-specific value."
template <class T, bool is_remainder>
void divide(Thread& thread, const Instruction& one) {
  const Operand &a = one.operands[1], &b = one.operands[2];
  const T x = from_word<T>(thread.value(a)), y = from_word<T>(thread.value(b));
  const Word lost = y == 0 ? ~Word{0} : spoiled<T>(thread, a, b);
  const T result = y == 0 ? T{0} : wrapped<T>(is_remainder ? Wide<T>{x} % y : Wide<T>{x} / y);
  thread.set(one.operands[0], to_word(result), lost);
}
template <class T>
struct Div {
  static constexpr auto run = divide<T, false>;
};
template <class T>
struct Rem {
  static constexpr auto run = divide<T, true>;
};

// Multiplies operands of half the result's width.
template <class T>
struct MulWide {
  static void run(Thread& thread, const Instruction& one) {
    const Operand &a = one.operands[1], &b = one.operands[2];
    Word result =
        to_word(static_cast<std::int64_t>(Wide<T>{from_word<T>(thread.value(a))} * from_word<T>(thread.value(b))));
    Word lost = spoiled<T>(thread, a, b);
    if (one.operands.size() > 3) {
      result += thread.value(one.operands[3]);
      lost |= thread.unwritten(one.operands[3]) != 0 ? ~Word{0} : 0;
    }
    thread.set(one.operands[0], result, lost);
  }
};

// add, sub, mad and their variants with carry-in. A subtraction's carry is its borrow.
template <class T, bool is_subtraction>
void with_carry(Thread& thread, const Instruction& one, T a, T b, Word lost) {
  using U = std::make_unsigned_t<T>;
  if (one.takes_carry && thread.carry_unwritten) lost = ~Word{0};
  const auto x = static_cast<U>(a), y = static_cast<U>(b);
  const auto in = static_cast<unsigned __int128>(one.takes_carry && thread.carry ? 1 : 0);
  const unsigned __int128 exact =
      is_subtraction ? static_cast<unsigned __int128>(x) - y - in : static_cast<unsigned __int128>(x) + y + in;
  if (one.sets_carry) {
    thread.carry = (exact >> (8 * sizeof(T)) & 1) != 0;
    thread.carry_unwritten = lost != 0;
  }
  thread.set(one.operands[0], to_word(static_cast<T>(static_cast<U>(exact))), lost);
}
template <class T>
struct AddCarry {
  static void run(Thread& thread, const Instruction& one) {
    with_carry<T, false>(thread, one, from_word<T>(thread.value(one.operands[1])),
                         from_word<T>(thread.value(one.operands[2])),
                         spoiled<T>(thread, one.operands[1], one.operands[2]));
  }
};
template <class T>
struct SubCarry {
  static void run(Thread& thread, const Instruction& one) {
    with_carry<T, true>(thread, one, from_word<T>(thread.value(one.operands[1])),
                        from_word<T>(thread.value(one.operands[2])),
                        spoiled<T>(thread, one.operands[1], one.operands[2]));
  }
};
template <class T>
struct MadCarry {
  static void run(Thread& thread, const Instruction& one) {
    const Wide<T> product =
        Wide<T>{from_word<T>(thread.value(one.operands[1]))} * from_word<T>(thread.value(one.operands[2]));
    with_carry<T, false>(thread, one, wrapped<T>(one.mode == 0 ? product : product >> (8 * sizeof(T))),
                         from_word<T>(thread.value(one.operands[3])),
                         spoiled<T>(thread, one.operands[1], one.operands[2], one.operands[3]));
  }
};

// Returns one of the packed values of `bits` bits in a word.
std::int64_t part_of(Word word, unsigned i, unsigned bits, Type type) {
  const auto part = static_cast<std::uint64_t>(word) >> (bits * i) & ((std::uint64_t{1} << bits) - 1);
  const bool is_negative = is_signed(type) && (part >> (bits - 1)) != 0;
  return static_cast<std::int64_t>(part) - (is_negative ? std::int64_t{1} << bits : 0);
}

void add_products(Thread& thread, const Instruction& one, std::int64_t products) {
  thread.set(one.operands[0], static_cast<Word>(static_cast<std::int64_t>(thread.value(one.operands[3])) + products),
             spoiled<std::uint32_t>(thread, one.operands[1], one.operands[2], one.operands[3]));
}

// dp4a: adds the products of four bytes, signed or unsigned, to a sum.
void dot_of_four(Thread& thread, const Instruction& one) {
  const Word a = thread.value(one.operands[1]), b = thread.value(one.operands[2]);
  std::int64_t products = 0;
  for (unsigned i = 0; i < 4; ++i) products += part_of(a, i, 8, one.type) * part_of(b, i, 8, one.from);
  add_products(thread, one, products);
}

// dp2a: adds the products of two 16-bit numbers with the lower or upper two bytes to a sum.
void dot_of_two(Thread& thread, const Instruction& one) {
  const Word a = thread.value(one.operands[1]), b = thread.value(one.operands[2]);
  std::int64_t products = 0;
  for (unsigned i = 0; i < 2; ++i)
    products += part_of(a, i, 16, one.type) * part_of(b, i + (one.mode == 1 ? 2 : 0), 8, one.from);
  add_products(thread, one, products);
}

bool is_float_type(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64 || type == Type::f16x2 ||
         type == Type::bf16x2;
}

// Returns whether the instruction operates on integers: "add.s32", not "add.f32".
bool is_integer(const Opcode& opcode) {
  Opcode copy = opcode;
  return !is_float_type(copy.take_type());
}

Execute product(Opcode& opcode, Instruction& one, bool is_sum) {
  const bool low = opcode.take("lo"), high = opcode.take("hi"), wide = opcode.take("wide");
  if (low + high + wide != 1) throw ParseError("expected .lo, .hi or .wide in '" + one.text + "'");
  if (wide) {
    switch (one.type) {
      case Type::u16: return MulWide<std::uint16_t>::run;
      case Type::s16: return MulWide<std::int16_t>::run;
      case Type::u32: return MulWide<std::uint32_t>::run;
      case Type::s32: return MulWide<std::int32_t>::run;
      default: throw ParseError("expected integers of 16 or 32 bits for '" + one.text + "'");
    }
  }
  one.mode = high ? 1 : 0;
  if (one.sets_carry || one.takes_carry) return for_integer<MadCarry>(one.type);
  if (is_sum) return high ? for_integer<MadHigh>(one.type) : for_integer<MadLow>(one.type);
  return high ? for_integer<MulHigh>(one.type) : for_integer<MulLow>(one.type);
}

}  // namespace

bool decode_integer(Opcode& opcode, Instruction& one) {
  if (opcode.is({"sad", "mul24", "mad24"})) {
    const bool is_sad = opcode.name() == "sad", is_sum = opcode.name() != "mul24";
    if (!is_sad && !opcode.take("lo")) throw ParseError("the interpreter does not know '" + one.text + "'");
    one.type = opcode.take_type();
    if (!is_sad && one.type != Type::u32 && one.type != Type::s32)
      throw ParseError("expected integers of 32 bits for '" + one.text + "'");
    expect_operands(one, is_sum ? 4 : 3);
    one.execute = is_sad   ? for_integer<Sad>(one.type)
                  : is_sum ? for_integer<Mad24>(one.type)
                           : for_integer<Mul24>(one.type);
    return true;
  }
  if (opcode.is({"dp2a", "dp4a"})) {
    const bool is_two = opcode.name() == "dp2a", low = opcode.take("lo"), high = opcode.take("hi");
    if (low + high != (is_two ? 1 : 0)) throw ParseError("expected .lo or .hi of dp2a alone in '" + one.text + "'");
    one.mode = high ? 1 : 0;
    one.type = opcode.take_type();
    one.from = opcode.take_type();
    expect_operands(one, 4);
    one.execute = is_two ? dot_of_two : dot_of_four;
    return true;
  }
  if (!opcode.is({"add", "sub", "mul", "mad", "div", "rem", "min", "max", "abs", "neg", "addc", "subc", "madc"}))
    return false;
  if (!is_integer(opcode)) return false;
  one.type = opcode.take_type();
  one.sets_carry = opcode.take("cc");
  const std::string& name = opcode.name();
  one.takes_carry = name.back() == 'c' && name.size() == 4;
  const bool carries = one.sets_carry || one.takes_carry;
  expect_operands(one, name == "abs" || name == "neg" ? 2 : name.starts_with("mad") ? 4 : 3);
  if (name.starts_with("add")) one.execute = carries ? for_integer<AddCarry>(one.type) : for_integer<Add>(one.type);
  if (name.starts_with("sub")) one.execute = carries ? for_integer<SubCarry>(one.type) : for_integer<Sub>(one.type);
  if (name == "mul" || name.starts_with("mad")) one.execute = product(opcode, one, name != "mul");
  if (name == "div") one.execute = for_integer<Div>(one.type);
  if (name == "rem") one.execute = for_integer<Rem>(one.type);
  if (name == "min") one.execute = for_integer<Min>(one.type);
  if (name == "max") one.execute = for_integer<Max>(one.type);
  if (name == "abs") one.execute = for_integer<Abs>(one.type);
  if (name == "neg") one.execute = for_integer<Neg>(one.type);
  return true;
}

}  // namespace ferry::ptx
