// PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red". The order of atomic operations is that
// in which threads come to them. Their order of other accesses (.acquire, .release) is not modelled, and refused.
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

enum Operation { kAdd, kMin, kMax, kAnd, kOr, kXor, kExchange, kCompare, kIncrement, kDecrement };

template <class T>
T changed(Operation operation, T old, T b, T c) {
  const auto bits = [](T value) { return to_word(value); };
  switch (operation) {
    case kAdd:
      if constexpr (std::is_floating_point_v<T>)
        return old + b;
      else
        return static_cast<T>(bits(old) + bits(b));
    case kMin: return b < old ? b : old;
    case kMax: return old < b ? b : old;
    case kAnd: return from_word<T>(bits(old) & bits(b));
    case kOr: return from_word<T>(bits(old) | bits(b));
    case kXor: return from_word<T>(bits(old) ^ bits(b));
    case kExchange: return b;
    case kCompare: return bits(old) == bits(b) ? c : old;
    case kIncrement: return old >= b ? T{0} : static_cast<T>(old + 1);
    case kDecrement: break;
  }
  return old == T{0} || old > b ? b : static_cast<T>(old - 1);
}

// "atom.OP d, [a], b, c" and "red.OP [a], b".
template <class T>
struct Atomic {
  static void run(Thread& thread, const Instruction& one) {
    const bool has_result = one.count != 0;
    const std::size_t first = has_result ? 2 : 1;
    const auto operation = static_cast<Operation>(one.mode);
    const Operand &b = one.operands[first], &c = one.operands.back();
    const Word lost = spoiled<T>(thread, b, c);
    const T x = from_word<T>(thread.value(b)), y = from_word<T>(thread.value(c));
    const Thread::Old old =
        thread.update(one.space, thread.address(one.operands[first - 1]), sizeof(T), lost,
                      [&](Word before) { return to_word(changed<T>(operation, from_word<T>(before), x, y)); });
    if (has_result) thread.set(one.operands[0], to_word(from_word<T>(old.value)), old.unwritten != 0 ? ~Word{0} : 0);
  }
};

constexpr std::pair<const char*, Operation> kOperations[] = {
    {"add", kAdd}, {"min", kMin},       {"max", kMax},     {"and", kAnd},       {"or", kOr},
    {"xor", kXor}, {"exch", kExchange}, {"cas", kCompare}, {"inc", kIncrement}, {"dec", kDecrement}};

bool fits(Operation operation, Type type) {
  const bool is_float = type == Type::f32 || type == Type::f64;
  const bool is_bits = type == Type::b32 || type == Type::b64;
  switch (operation) {
    case kAdd: return type != Type::b32 && type != Type::b64;
    case kMin:
    case kMax: return !is_float && !is_bits;
    case kAnd:
    case kOr:
    case kXor:
    case kExchange:
    case kCompare: return is_bits;
    case kIncrement:
    case kDecrement: break;
  }
  return type == Type::u32;
}

}  // namespace

bool decode_atomic(Opcode& opcode, Instruction& one) {
  if (!opcode.is({"atom", "red"})) return false;
  const bool has_result = opcode.name() == "atom";
  opcode.take("relaxed");
  for (const char* scope : {"cta", "gpu", "sys"}) opcode.take(scope);
  one.space = take_space(opcode);
  one.mode = -1;
  for (const auto& [name, operation] : kOperations)
    if (one.mode < 0 && opcode.take(name)) one.mode = operation;
  if (one.mode < 0) throw ParseError("expected an operation in '" + one.text + "'");
  one.type = opcode.take_type();
  one.count = has_result ? 1 : 0;
  const auto operation = static_cast<Operation>(one.mode);
  expect_operands(one, (has_result ? 3 : 2) + (operation == kCompare ? 1 : 0));
  if (one.operands[has_result ? 1 : 0].kind != OperandKind::address)
    throw ParseError("expected an address in '" + one.text + "'");
  if (!fits(operation, one.type) || bits_of(one.type) < 32)
    throw ParseError("the interpreter does not know '" + one.text + "'");
  one.execute = one.type == Type::f32   ? Atomic<float>::run
                : one.type == Type::f64 ? Atomic<double>::run
                                        : for_integer<Atomic>(one.type);
  return true;
}

}  // namespace ferry::ptx
