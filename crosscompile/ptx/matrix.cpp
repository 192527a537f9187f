// PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions": ldmatrix, and mma.m16n8k16 of float16 and bfloat16
// with sums in float32.
#include "crosscompile/ptx/block.h"
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

void expect_whole(Warp& warp) {
  for (const Thread* lane : warp.lanes)
    if (lane == nullptr) warp.first().fail(FaultKind::divergence, "a warp that is not whole");
}

// Loads matrices of 8 x 8: lane 8 * m + r has the address of row r of matrix m, and lane 4 * r + c gets its elements 2
// * c and 2 * c + 1 of that row; transposed, the elements (2 * c, r) and (2 * c + 1, r).
void load_matrices(Warp& warp, const Instruction& one) {
  expect_whole(warp);
  struct Row {
    std::array<std::uint8_t, 16> content{}, unwritten{};
  };
  std::array<std::array<Row, 8>, 4> rows;
  for (unsigned m = 0; m < one.count; ++m) {
    for (unsigned r = 0; r < 8; ++r) {
      Thread& lane = *warp.lanes[8 * m + r];
      lane.load(Space::shared, lane.address(one.operands[1]), 16, rows[m][r].content.data(),
                rows[m][r].unwritten.data(), false);
    }
  }
  for (unsigned i = 0; i < 32; ++i) {
    for (unsigned m = 0; m < one.count; ++m) {
      Word value = 0, lost = 0;
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned r = one.is_transposed ? i % 4 * 2 + half : i / 4,
                       c = one.is_transposed ? i / 4 : i % 4 * 2 + half;
        for (unsigned byte = 0; byte < 2; ++byte) {
          const unsigned shift = 16 * half + 8 * byte;
          value |= static_cast<Word>(rows[m][r].content[2 * c + byte]) << shift;
          if (rows[m][r].unwritten[2 * c + byte] != 0) lost |= Word{0xff} << shift;
        }
      }
      const Operand& to = one.operands[0].kind == OperandKind::vector ? one.operands[0].parts[m] : one.operands[0];
      warp.lanes[i]->set(to, value, lost);
    }
  }
}

struct Number {
  double value = 0;
  bool is_lost = false;
};

// The position of a lane's elements: "Matrix Fragments for mma.m16n8k16 with floating point type".
struct Place {
  unsigned row, column;
};
Place place_in_a(unsigned lane, unsigned i) {
  const unsigned group = lane / 4, in_group = lane % 4;
  const bool upper = i < 2 || (i >= 4 && i < 6);
  return {upper ? group : group + 8, in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Place place_in_b(unsigned lane, unsigned i) { return {lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane / 4}; }
Place place_in_c(unsigned lane, unsigned i) { return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)}; }

Number half_of(const Thread& thread, const Operand& registers, unsigned i, Type type) {
  const Operand& reg = registers.parts[i / 2];
  const auto bits = static_cast<std::uint16_t>(thread.value(reg) >> (16 * (i % 2)));
  return {type == Type::f16 ? from_f16(bits) : from_bf16(bits),
          (thread.unwritten(reg) >> (16 * (i % 2)) & 0xffff) != 0};
}

void multiply(Warp& warp, const Instruction& one) {
  expect_whole(warp);
  std::array<std::array<Number, 16>, 16> a;
  std::array<std::array<Number, 8>, 16> b;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 8; ++i) {
      const Place at = place_in_a(lane, i);
      a[at.row][at.column] = half_of(*warp.lanes[lane], one.operands[1], i, one.from);
    }
    for (unsigned i = 0; i < 4; ++i) {
      const Place at = place_in_b(lane, i);
      b[at.row][at.column] = half_of(*warp.lanes[lane], one.operands[2], i, one.from);
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::array<Word, 4> results{}, lost{};
    for (unsigned i = 0; i < 4; ++i) {
      const Place at = place_in_c(lane, i);
      const Operand& sum = one.operands[3].parts[i];
      double total = from_word<float>(warp.lanes[lane]->value(sum));
      bool is_lost = warp.lanes[lane]->unwritten(sum) != 0;
      for (unsigned k = 0; k < 16; ++k) {
        total += a[at.row][k].value * b[k][at.column].value;
        is_lost = is_lost || a[at.row][k].is_lost || b[k][at.column].is_lost;
      }
      results[i] = to_word(static_cast<float>(total));
      lost[i] = is_lost ? ~Word{0} : 0;
    }
    for (unsigned i = 0; i < 4; ++i) warp.lanes[lane]->set(one.operands[0].parts[i], results[i], lost[i]);
  }
}

void expect_parts(const Instruction& one, std::size_t operand, std::size_t count) {
  const Operand& given = one.operands[operand];
  if (given.kind != OperandKind::vector || given.parts.size() != count)
    throw ParseError("'" + one.text + "': expected " + std::to_string(count) + " registers for operand " +
                     std::to_string(operand));
}

void decode_ldmatrix(Opcode& opcode, Instruction& one) {
  const bool known = opcode.take("sync") && opcode.take("aligned") && opcode.take("m8n8") && opcode.take("shared");
  if (!known) throw ParseError("the interpreter does not know '" + one.text + "'");
  one.is_transposed = opcode.take("trans");
  for (const unsigned count : {1U, 2U, 4U})
    if (opcode.take("x" + std::to_string(count))) one.count = count;
  if (opcode.take_type() != Type::b16) throw ParseError("expected .b16 in '" + one.text + "'");
  expect_operands(one, 2);
  if (one.count > 1) expect_parts(one, 0, one.count);
  one.together = load_matrices;
}

void decode_mma(Opcode& opcode, Instruction& one) {
  const bool known = opcode.take("sync") && opcode.take("aligned") && opcode.take("m16n8k16") && opcode.take("row") &&
                     opcode.take("col");
  if (!known) throw ParseError("the interpreter does not know '" + one.text + "'");
  const Type result = opcode.take_type();
  one.from = opcode.take_type();
  const Type other = opcode.take_type(), sum = opcode.take_type();
  const bool fits =
      result == Type::f32 && sum == Type::f32 && one.from == other && (one.from == Type::f16 || one.from == Type::bf16);
  if (!fits) throw ParseError("the interpreter does not know '" + one.text + "'");
  expect_operands(one, 4);
  expect_parts(one, 0, 4);
  expect_parts(one, 1, 4);
  expect_parts(one, 2, 2);
  expect_parts(one, 3, 4);
  one.together = multiply;
}

}  // namespace

bool decode_matrix(Opcode& opcode, Instruction& one) {
  if (opcode.name() == "ldmatrix") {
    decode_ldmatrix(opcode, one);
    return true;
  }
  if (opcode.name() != "mma") return false;
  decode_mma(opcode, one);
  return true;
}

}  // namespace ferry::ptx
