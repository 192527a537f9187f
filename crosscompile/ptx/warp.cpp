// Instructions that the lanes of a warp execute together besides shuffles (PTX ISA, "Parallel Synchronization and
// Communication Instructions": bar.warp.sync, vote.sync, match.sync, redux.sync). The last operand names the lanes.
#include "crosscompile/ptx/block.h"
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

enum Vote { kAllOf, kAnyOf, kUniform, kBallot };
enum Reduction { kSum, kLeast, kMost, kConjunction, kDisjunction, kExclusive };

struct Lane {
  unsigned number = 0;
  Thread* thread = nullptr;
};

std::vector<Lane> lanes_of(const Warp& warp) {
  std::vector<Lane> lanes;
  for (unsigned i = 0; i < warp.lanes.size(); ++i)
    if (warp.lanes[i] != nullptr) lanes.push_back({i, warp.lanes[i]});
  return lanes;
}

void meet(Warp& warp, const Instruction&) {
  std::uint32_t lanes = 0;
  for (const Lane& lane : lanes_of(warp)) lanes |= 1U << lane.number;
  Thread& first = warp.first();
  first.block().synchronization().pass_warp(first.index() / 32, lanes);
}

void vote(Warp& warp, const Instruction& one) {
  Word ballot = 0;
  const std::vector<Lane> lanes = lanes_of(warp);
  for (const Lane& lane : lanes)
    if (lane.thread->decides(one.operands[1])) ballot |= Word{1} << lane.number;
  const auto yes = static_cast<std::size_t>(std::popcount(ballot));
  Word result = ballot;
  if (one.mode == kAllOf) result = yes == lanes.size() ? 1 : 0;
  if (one.mode == kAnyOf) result = yes != 0 ? 1 : 0;
  if (one.mode == kUniform) result = yes == 0 || yes == lanes.size() ? 1 : 0;
  for (const Lane& lane : lanes) lane.thread->set(one.operands[0], result, 0);
}

void expect_written(const Lane& lane, const Operand& operand, Word mask) {
  if ((lane.thread->unwritten(operand) & mask) != 0)
    lane.thread->fail(FaultKind::unwritten, "lanes combine what was never written");
}

// "match.any d, a": the lanes with the same value; "match.all d|p, a": all lanes and true if they agree, otherwise
// none.
void match(Warp& warp, const Instruction& one) {
  const Word mask = mask_of(bits_of(one.type));
  const std::vector<Lane> lanes = lanes_of(warp);
  const auto value = [&](const Lane& lane) { return lane.thread->value(one.operands[1]) & mask; };
  for (const Lane& lane : lanes) expect_written(lane, one.operands[1], mask);
  std::vector<Word> found;
  for (const Lane& lane : lanes) {
    Word same = 0;
    for (const Lane& other : lanes)
      if (value(other) == value(lane)) same |= Word{1} << other.number;
    const bool agree = static_cast<std::size_t>(std::popcount(same)) == lanes.size();
    found.push_back(one.mode == kAllOf && !agree ? 0 : same);
  }
  const Operand& to = one.operands[0];
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    lanes[i].thread->set(to.kind == OperandKind::vector ? to.parts[0] : to, found[i], 0);
    if (to.kind == OperandKind::vector) lanes[i].thread->set(to.parts[1], found[i] != 0 ? 1 : 0, 0);
  }
}

void reduce(Warp& warp, const Instruction& one) {
  const std::vector<Lane> lanes = lanes_of(warp);
  const bool has_sign = is_signed(one.type);
  const auto value = [&](const Lane& lane) {
    const auto bits = static_cast<std::uint32_t>(lane.thread->value(one.operands[1]));
    return has_sign ? std::int64_t{static_cast<std::int32_t>(bits)} : std::int64_t{bits};
  };
  for (const Lane& lane : lanes) expect_written(lane, one.operands[1], 0xffffffff);
  std::int64_t result = value(lanes.front());
  for (std::size_t i = 1; i < lanes.size(); ++i) {
    const std::int64_t other = value(lanes[i]);
    switch (static_cast<Reduction>(one.mode)) {
      case kSum: result += other; break;
      case kLeast: result = std::min(result, other); break;
      case kMost: result = std::max(result, other); break;
      case kConjunction: result &= other; break;
      case kDisjunction: result |= other; break;
      case kExclusive: result ^= other; break;
    }
  }
  for (const Lane& lane : lanes) lane.thread->set(one.operands[0], static_cast<Word>(result), 0);
}

void take_mode(Opcode& opcode, Instruction& one, std::initializer_list<std::pair<const char*, int>> modes) {
  one.mode = -1;
  for (const auto& [name, mode] : modes)
    if (one.mode < 0 && opcode.take(name)) one.mode = mode;
  if (one.mode < 0) throw ParseError("the interpreter does not know '" + one.text + "'");
}

}  // namespace

bool decode_warp(Opcode& opcode, Instruction& one) {
  const std::string& name = opcode.name();
  if (name == "bar" || name == "barrier") {
    if (!opcode.take("warp")) return false;
    if (!opcode.take("sync")) throw ParseError("expected .sync in '" + one.text + "'");
    expect_operands(one, 1);
    one.lanes = 0;
    one.together = meet;
    return true;
  }
  if (name == "activemask")
    throw ParseError("the interpreter does not know '" + one.text + "': which lanes run together is not defined");
  if (!opcode.is({"vote", "match", "redux"})) return false;
  if (!opcode.take("sync")) throw ParseError("expected .sync in '" + one.text + "'");
  if (name == "vote") {
    take_mode(opcode, one, {{"all", kAllOf}, {"any", kAnyOf}, {"uni", kUniform}, {"ballot", kBallot}});
  } else if (name == "match") {
    take_mode(opcode, one, {{"all", kAllOf}, {"any", kAnyOf}});
  } else {
    take_mode(opcode, one,
              {{"add", kSum},
               {"min", kLeast},
               {"max", kMost},
               {"and", kConjunction},
               {"or", kDisjunction},
               {"xor", kExclusive}});
  }
  one.type = opcode.take_type();
  if (name == "redux" && bits_of(one.type) != 32) throw ParseError("the interpreter does not know '" + one.text + "'");
  expect_operands(one, 3);
  one.lanes = 2;
  one.together = name == "vote" ? vote : name == "match" ? match : reduce;
  return true;
}

}  // namespace ferry::ptx
