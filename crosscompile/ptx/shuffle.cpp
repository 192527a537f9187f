// PTX ISA, "Data Movement and Conversion Instructions: shfl.sync".
#include "crosscompile/ptx/block.h"
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

enum Mode { kUp, kDown, kButterfly, kIndex };

struct Source {
  unsigned lane;
  bool is_inside;
};

// Follows the pseudocode of the PTX ISA.
Source source_of(Mode mode, unsigned lane, Word b, Word c) {
  const auto value = static_cast<int>(b & 0x1f), clamp = static_cast<int>(c & 0x1f),
             segment = static_cast<int>(c >> 8 & 0x1f);
  const int self = static_cast<int>(lane);
  const int highest = (self & segment) | (clamp & ~segment), lowest = self & segment;
  int from = self;
  bool inside = true;
  switch (mode) {
    case kUp:
      from = self - value;
      inside = from >= highest;
      break;
    case kDown:
      from = self + value;
      inside = from <= highest;
      break;
    case kButterfly:
      from = self ^ value;
      inside = from <= highest;
      break;
    case kIndex:
      from = lowest | (value & ~segment);
      inside = from <= highest;
      break;
  }
  return {static_cast<unsigned>(inside ? from : self), inside};
}

void shuffle(Warp& warp, const Instruction& one) {
  std::array<Word, 32> values{}, lost{};
  Word present = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const Thread* lane = warp.lanes[i];
    if (lane == nullptr) continue;
    present |= Word{1} << i;
    values[i] = lane->value(one.operands[1]);
    lost[i] = lane->unwritten(one.operands[1]);
  }
  for (unsigned i = 0; i < 32; ++i) {
    Thread* lane = warp.lanes[i];
    if (lane == nullptr) continue;
    for (std::size_t k = 2; k < 4; ++k)
      if (lane->unwritten(one.operands[k]) != 0) lane->fail(FaultKind::unwritten, "shuffles by what was never written");
    const Source source =
        source_of(static_cast<Mode>(one.mode), i, lane->value(one.operands[2]), lane->value(one.operands[3]));
    // The value from a lane that does not exist is undefined.
    const bool is_there = (present >> source.lane & 1) != 0;
    const Operand& to = one.operands[0].kind == OperandKind::vector ? one.operands[0].parts[0] : one.operands[0];
    lane->set(to, values[source.lane], is_there ? lost[source.lane] : ~Word{0});
    if (one.operands[0].kind == OperandKind::vector) lane->set(one.operands[0].parts[1], source.is_inside ? 1 : 0, 0);
  }
}

}  // namespace

bool decode_shuffle(Opcode& opcode, Instruction& one) {
  if (opcode.name() != "shfl") return false;
  if (!opcode.take("sync")) throw ParseError("expected shfl.sync, got '" + one.text + "'");
  constexpr std::pair<const char*, Mode> kModes[] = {
      {"up", kUp}, {"down", kDown}, {"bfly", kButterfly}, {"idx", kIndex}};
  one.mode = -1;
  for (const auto& [name, mode] : kModes)
    if (opcode.take(name)) one.mode = mode;
  one.type = opcode.take_type();
  if (one.mode < 0 || bits_of(one.type) != 32) throw ParseError("the interpreter does not know '" + one.text + "'");
  expect_operands(one, 5);
  one.lanes = 4;
  one.together = shuffle;
  return true;
}

}  // namespace ferry::ptx
