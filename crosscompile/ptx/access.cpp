// PTX ISA, "Data Movement and Conversion Instructions": mov, ld, st, cvta.
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

constexpr Word kFrameBytes = Word{1} << 20;

void move(Thread& thread, const Instruction& one) {
  const Operand& a = one.operands[1];
  // The address of a local array lies in the frame of the running function.
  const Word frame =
      a.kind == OperandKind::constant && a.space == Space::local ? (thread.depth() - 1) * kFrameBytes : 0;
  thread.set(one.operands[0], thread.value(a) + frame, thread.unwritten(a));
}

// "mov.b32 %r, {%rs1, %rs2}": the first operand is in the lowest bits.
void pack(Thread& thread, const Instruction& one) {
  const std::vector<Operand>& parts = one.operands[1].parts;
  const unsigned bits = bits_of(one.type) / static_cast<unsigned>(parts.size());
  Word value = 0, lost = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    value |= (thread.value(parts[i]) & mask_of(bits)) << (bits * i);
    lost |= (thread.unwritten(parts[i]) & mask_of(bits)) << (bits * i);
  }
  thread.set(one.operands[0], value, lost);
}

void unpack(Thread& thread, const Instruction& one) {
  const std::vector<Operand>& parts = one.operands[0].parts;
  const unsigned bits = bits_of(one.type) / static_cast<unsigned>(parts.size());
  const Word value = thread.value(one.operands[1]), lost = thread.unwritten(one.operands[1]);
  for (std::size_t i = 0; i < parts.size(); ++i)
    thread.set(parts[i], value >> (bits * i) & mask_of(bits), lost >> (bits * i) & mask_of(bits));
}

const Operand& element(const Operand& operand, unsigned i) {
  return operand.kind == OperandKind::vector ? operand.parts[i] : operand;
}

void load(Thread& thread, const Instruction& one) {
  const unsigned bytes = bytes_of(one.type);
  std::array<std::uint8_t, 32> content{}, unwritten{};
  thread.load(one.space, thread.address(one.operands[1]), bytes * one.count, content.data(), unwritten.data(),
              one.is_read_only);
  for (unsigned i = 0; i < one.count; ++i) {
    Word value = 0, lost = 0;
    for (unsigned k = 0; k < bytes; ++k) {
      value |= static_cast<Word>(content[i * bytes + k]) << (8 * k);
      if (unwritten[i * bytes + k] != 0) lost |= Word{0xff} << (8 * k);
    }
    const bool is_negative = is_signed(one.type) && (value >> (8 * bytes - 1) & 1) != 0;
    if (is_negative) value |= ~mask_of(8 * bytes);
    thread.set(element(one.operands[0], i), value, lost);
  }
}

void store(Thread& thread, const Instruction& one) {
  const unsigned bytes = bytes_of(one.type);
  std::array<std::uint8_t, 32> content{}, unwritten{};
  for (unsigned i = 0; i < one.count; ++i) {
    const Operand& from = element(one.operands[1], i);
    const Word value = thread.value(from), lost = thread.unwritten(from);
    for (unsigned k = 0; k < bytes; ++k) {
      content[i * bytes + k] = static_cast<std::uint8_t>(value >> (8 * k));
      unwritten[i * bytes + k] = (lost >> (8 * k) & 0xff) != 0 ? 1 : 0;
    }
  }
  thread.store(one.space, thread.address(one.operands[0]), bytes * one.count, content.data(), unwritten.data());
}

// "isspacep.SPACE p, a": whether a generic address lies in the space.
void is_in_space(Thread& thread, const Instruction& one) {
  const Word address = thread.value(one.operands[1]);
  const bool is_shared = address - kSharedWindow < kWindowBytes, is_local = address - kLocalWindow < kWindowBytes;
  const bool found = one.space == Space::shared  ? is_shared
                     : one.space == Space::local ? is_local
                                                 : !is_shared && !is_local;
  thread.set(one.operands[0], found ? 1 : 0, spoiled<Word>(thread, one.operands[1]));
}

Word window_of(Space space) {
  switch (space) {
    case Space::shared: return kSharedWindow;
    case Space::local: return kLocalWindow;
    case Space::generic:
    case Space::global:
    case Space::param: break;
  }
  return 0;
}

void to_generic(Thread& thread, const Instruction& one) {
  const Operand& a = one.operands[1];
  const Word frame =
      a.kind == OperandKind::constant && a.space == Space::local ? (thread.depth() - 1) * kFrameBytes : 0;
  thread.set(one.operands[0], thread.value(a) + frame + window_of(one.space), thread.unwritten(a));
}

void from_generic(Thread& thread, const Instruction& one) {
  const Word value = thread.value(one.operands[1]) - window_of(one.space);
  if (window_of(one.space) != 0 && value >= kWindowBytes)
    thread.fail(FaultKind::illegal_address, "makes an address of a space that it is not in");
  thread.set(one.operands[0], value, thread.unwritten(one.operands[1]));
}

// .weak and the cache hints have no observable effect here. Volatile accesses race as others do.
void take_hints(Opcode& opcode) {
  for (const char* hint : {"weak", "volatile", "ca", "cg", "cs", "lu", "cv", "wb", "wt"}) opcode.take(hint);
}

void decode_memory(Opcode& opcode, Instruction& one) {
  const bool is_load = opcode.name() == "ld";
  one.space = take_space(opcode);
  one.is_read_only = is_load && opcode.take("nc");
  take_hints(opcode);
  for (const unsigned count : {2U, 4U, 8U})
    if (opcode.take("v" + std::to_string(count))) one.count = count;
  one.type = opcode.take_type();
  expect_operands(one, 2);
  const Operand& values = one.operands[is_load ? 0 : 1];
  if (one.operands[is_load ? 1 : 0].kind != OperandKind::address)
    throw ParseError("expected an address in '" + one.text + "'");
  const std::size_t given = values.kind == OperandKind::vector ? values.parts.size() : 1;
  if (given != one.count || bytes_of(one.type) * one.count > 16)
    throw ParseError("'" + one.text + "': expected " + std::to_string(one.count) + " elements of 16 bytes at most");
  one.execute = is_load ? load : store;
}

}  // namespace

Space take_space(Opcode& opcode) {
  if (opcode.take("global") || opcode.take("const")) return Space::global;
  if (opcode.take("shared") || opcode.take("shared::cta")) return Space::shared;
  if (opcode.take("local")) return Space::local;
  if (opcode.take("param")) return Space::param;
  return Space::generic;
}

bool decode_access(Opcode& opcode, Instruction& one) {
  if (opcode.is({"ld", "st"})) {
    decode_memory(opcode, one);
    return true;
  }
  if (opcode.name() == "mov") {
    one.type = opcode.take_type();
    expect_operands(one, 2);
    if (one.operands[1].kind == OperandKind::label)
      throw ParseError("nothing is called '" + one.operands[1].name + "'");
    one.execute = one.operands[0].kind == OperandKind::vector   ? unpack
                  : one.operands[1].kind == OperandKind::vector ? pack
                                                                : move;
    return true;
  }
  if (opcode.name() == "isspacep") {
    one.space = take_space(opcode);
    expect_operands(one, 2);
    one.execute = is_in_space;
    return true;
  }
  if (opcode.name() == "cvta") {
    const bool back = opcode.take("to");
    one.space = take_space(opcode);
    one.type = opcode.take_type();
    expect_operands(one, 2);
    one.execute = back ? from_generic : to_generic;
    return true;
  }
  return false;
}

}  // namespace ferry::ptx
