// PTX ISA, "Comparison and Selection Instructions".
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

constexpr std::pair<const char*, Comparison> kComparisons[] = {
    {"eq", Comparison::eq},   {"ne", Comparison::ne},   {"lt", Comparison::lt},   {"le", Comparison::le},
    {"gt", Comparison::gt},   {"ge", Comparison::ge},   {"equ", Comparison::equ}, {"neu", Comparison::neu},
    {"ltu", Comparison::ltu}, {"leu", Comparison::leu}, {"gtu", Comparison::gtu}, {"geu", Comparison::geu},
    {"num", Comparison::num}, {"nan", Comparison::nan}, {"lo", Comparison::lt},   {"ls", Comparison::le},
    {"hi", Comparison::gt},   {"hs", Comparison::ge},
};

// For floats, the comparisons that end in u also hold for NaN; the others do not (nor does "ne").
template <class T>
bool holds(Comparison comparison, T a, T b) {
  const bool is_nan = a != a || b != b;
  switch (comparison) {
    case Comparison::eq: return a == b;
    case Comparison::ne: return !is_nan && a != b;
    case Comparison::lt: return a < b;
    case Comparison::le: return a <= b;
    case Comparison::gt: return a > b;
    case Comparison::ge: return a >= b;
    case Comparison::equ: return is_nan || a == b;
    case Comparison::neu: return a != b;
    case Comparison::ltu: return is_nan || a < b;
    case Comparison::leu: return is_nan || a <= b;
    case Comparison::gtu: return is_nan || a > b;
    case Comparison::geu: return is_nan || a >= b;
    case Comparison::num: return !is_nan;
    case Comparison::nan: break;
  }
  return is_nan;
}

struct Half {
  std::uint16_t bits;
};

template <class T>
auto operand_of(const Thread& thread, const Instruction& one, const Operand& operand) {
  if constexpr (std::is_same_v<T, Half>) {
    const auto bits = static_cast<std::uint16_t>(thread.value(operand));
    return one.type == Type::f16 ? from_f16(bits) : from_bf16(bits);
  } else {
    const T value = from_word<T>(thread.value(operand));
    if constexpr (std::is_floating_point_v<T>)
      return flushed(value, one.flushes);
    else
      return value;
  }
}

// "setp.lt.and.s32 p|q, a, b, c": p is (a < b) and c, q is !(a < b) and c.
template <class T>
struct SetPredicate {
  static void run(Thread& thread, const Instruction& one) {
    const Operand &a = one.operands[1], &b = one.operands[2];
    const bool found = holds(one.comparison, operand_of<T>(thread, one, a), operand_of<T>(thread, one, b));
    Word lost = spoiled<T>(thread, a, b);
    bool other = false;
    if (one.combination != Combination::none) {
      const Operand& c = one.operands[3];
      other = ((thread.value(c) & 1) != 0) != c.is_negated;
      lost |= thread.unwritten(c);
    }
    const auto combined = [&](bool value) -> Word {
      switch (one.combination) {
        case Combination::none: break;
        case Combination::conjunction: return value && other ? 1 : 0;
        case Combination::disjunction: return value || other ? 1 : 0;
        case Combination::exclusive: return value != other ? 1 : 0;
      }
      return value ? 1 : 0;
    };
    const Operand& to = one.operands[0];
    if (to.kind != OperandKind::vector) return thread.set(to, combined(found), lost);
    thread.set(to.parts[0], combined(found), lost);
    thread.set(to.parts[1], combined(!found), lost);
  }
};

// "set.lt.u32.f32 d, a, b": all ones or 1.0 where the comparison holds, otherwise 0.
template <class T>
struct SetRegister {
  static void run(Thread& thread, const Instruction& one) {
    const Operand &a = one.operands[1], &b = one.operands[2];
    const bool found = holds(one.comparison, operand_of<T>(thread, one, a), operand_of<T>(thread, one, b));
    const Word yes = one.mode != 0 ? to_word(1.0F) : 0xffffffff;
    thread.set(one.operands[0], found ? yes : 0, spoiled<T>(thread, a, b));
  }
};

// "slct.s32.f32 d, a, b, c": a if c is at least 0.
void select_by_sign(Thread& thread, const Instruction& one) {
  const Operand& c = one.operands[3];
  const bool first = one.from == Type::f32 ? flushed(from_word<float>(thread.value(c)), one.flushes) >= 0
                                           : from_word<std::int32_t>(thread.value(c)) >= 0;
  const Operand& taken = one.operands[first ? 1 : 2];
  thread.set(one.operands[0], thread.value(taken), spoiled<std::uint32_t>(thread, c) | thread.unwritten(taken));
}

void select(Thread& thread, const Instruction& one) {
  const Operand& condition = one.operands[3];
  const bool first = ((thread.value(condition) & 1) != 0) != condition.is_negated;
  const Operand& taken = one.operands[first ? 1 : 2];
  const Word lost = (thread.unwritten(condition) & 1) != 0 ? ~Word{0} : thread.unwritten(taken);
  thread.set(one.operands[0], thread.value(taken), lost);
}

// The part behind the result's type.
bool decode_set(Opcode& opcode, Instruction& one) {
  one.mode = one.type == Type::f32 ? 1 : 0;
  if (bits_of(one.type) != 32 || one.combination != Combination::none)
    throw ParseError("the interpreter does not know '" + one.text + "'");
  one.type = opcode.take_type();
  expect_operands(one, 3);
  one.execute = one.type == Type::f32   ? SetRegister<float>::run
                : one.type == Type::f64 ? SetRegister<double>::run
                                        : for_integer<SetRegister>(one.type);
  return true;
}

}  // namespace

bool decode_compare(Opcode& opcode, Instruction& one) {
  if (opcode.name() == "selp") {
    one.type = opcode.take_type();
    expect_operands(one, 4);
    one.execute = select;
    return true;
  }
  if (opcode.name() == "slct") {
    one.flushes = opcode.take("ftz");
    one.type = opcode.take_type();
    one.from = opcode.take_type();
    expect_operands(one, 4);
    one.execute = select_by_sign;
    return true;
  }
  if (!opcode.is({"setp", "set"})) return false;
  bool found = false;
  for (const auto& [name, comparison] : kComparisons) {
    if (found || !opcode.take(name)) continue;
    one.comparison = comparison;
    found = true;
  }
  if (!found) throw ParseError("expected a comparison in '" + one.text + "'");
  if (opcode.take("and")) one.combination = Combination::conjunction;
  if (opcode.take("or")) one.combination = Combination::disjunction;
  if (opcode.take("xor")) one.combination = Combination::exclusive;
  one.flushes = opcode.take("ftz");
  one.type = opcode.take_type();
  if (opcode.name() == "set") return decode_set(opcode, one);
  expect_operands(one, one.combination == Combination::none ? 3 : 4);
  if (one.type == Type::f32)
    one.execute = SetPredicate<float>::run;
  else if (one.type == Type::f64)
    one.execute = SetPredicate<double>::run;
  else if (one.type == Type::f16 || one.type == Type::bf16)
    one.execute = SetPredicate<Half>::run;
  else
    one.execute = for_integer<SetPredicate>(one.type);
  return true;
}

}  // namespace ferry::ptx
