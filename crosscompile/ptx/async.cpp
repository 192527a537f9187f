// cp.async: bytes that arrive in shared memory at some time before the issuing thread has waited for them (PTX ISA,
// "Data Movement and Conversion Instructions: cp.async").
#include <algorithm>

#include "crosscompile/ptx/block.h"
#include "crosscompile/ptx/opcode.h"

namespace ferry::ptx {

void Thread::start_copy(Word to, Word from, unsigned bytes, unsigned source_bytes) {
  AsyncCopy copy;
  copy.to = to;
  copy.bytes = bytes;
  if (source_bytes > bytes) fail(FaultKind::illegal_address, "copies from more bytes than it copies to");
  std::array<std::uint8_t, 16> unwritten{};
  if (from % bytes != 0)
    fail(FaultKind::misaligned, "copies from an address that is no multiple of " + std::to_string(bytes));
  for (unsigned i = 0; i < source_bytes; ++i) load(Space::global, from + i, 1, &copy.content[i], &unwritten[i], false);
  const Place target = place(Space::shared, to, bytes, "copies");
  for (unsigned i = 0; i < bytes; ++i) {
    Touched& byte = target.region->touched[target.offset + i];
    if (const std::string conflict = note(*target.region, target.offset + i, access(), AccessKind::write);
        !conflict.empty())
      fail(FaultKind::race, "copies to " + place_in(*target.region, to + i) + ": " + conflict);
    ++byte.pending;
    target.region->unwritten[target.offset + i] = 1;
  }
  const bool is_early = block_.launch().landing == Landing::early ||
                        (block_.launch().landing == Landing::random && block_.random()() % 2 == 0);
  if (is_early) land(copy);
  open_copies_.push_back(copy);
}

void Thread::land(AsyncCopy& copy) {
  if (copy.has_landed) return;
  const Place target = place(Space::shared, copy.to, copy.bytes, "copies");
  for (unsigned i = 0; i < copy.bytes; ++i) target.region->content[target.offset + i] = copy.content[i];
  copy.has_landed = true;
}

// Completes the copy; it then counts as an ordinary write of this thread.
void Thread::finish(AsyncCopy& copy) {
  land(copy);
  const Place target = place(Space::shared, copy.to, copy.bytes, "copies");
  for (unsigned i = 0; i < copy.bytes; ++i) {
    Touched& byte = target.region->touched[target.offset + i];
    --byte.pending;
    byte.writer = access().thread;
    byte.write_time = block_.synchronization().now();
    byte.write_place = current_->place;
    target.region->unwritten[target.offset + i] = 0;
  }
}

void Thread::commit_copies() {
  copy_groups_.push_back(std::move(open_copies_));
  open_copies_.clear();
}

void Thread::wait_for_copies(std::size_t groups_left) {
  while (copy_groups_.size() > groups_left) {
    std::vector<AsyncCopy>& group = copy_groups_.front();
    std::shuffle(group.begin(), group.end(), block_.random());
    for (AsyncCopy& copy : group) finish(copy);
    copy_groups_.erase(copy_groups_.begin());
  }
}

void Thread::land_some_copies() {
  if (block_.launch().landing != Landing::random) return;
  for (std::vector<AsyncCopy>& group : copy_groups_)
    for (AsyncCopy& copy : group)
      if (block_.random()() % 4 == 0) land(copy);
}

namespace {

void start(Thread& thread, const Instruction& one) {
  unsigned source = one.count;
  if (one.operands.size() > 3) {
    if (thread.unwritten(one.operands[3]) != 0) thread.fail(FaultKind::unwritten, "the size was never written");
    source = static_cast<unsigned>(thread.value(one.operands[3]));
  }
  thread.start_copy(thread.address(one.operands[0]), thread.address(one.operands[1]), one.count, source);
}

}  // namespace

bool decode_async(Opcode& opcode, Instruction& one) {
  if (opcode.name() != "cp" || !opcode.take("async")) return false;
  if (opcode.take("commit_group")) {
    one.execute = [](Thread& thread, const Instruction&) { thread.commit_copies(); };
    return true;
  }
  if (opcode.take("wait_group")) {
    one.execute = [](Thread& thread, const Instruction& self) {
      thread.wait_for_copies(static_cast<std::size_t>(self.operands.at(0).value));
    };
    return true;
  }
  if (opcode.take("wait_all")) {
    one.execute = [](Thread& thread, const Instruction&) {
      thread.commit_copies();
      thread.wait_for_copies(0);
    };
    return true;
  }
  const bool skips_first_cache = opcode.take("cg");
  if (!skips_first_cache && !opcode.take("ca")) throw ParseError("expected .ca or .cg in '" + opcode.text() + "'");
  if (!opcode.take("shared") || !opcode.take("global"))
    throw ParseError("expected .shared.global in '" + opcode.text() + "'");
  if (one.operands.size() < 3) throw ParseError("expected two places and a size for '" + opcode.text() + "'");
  one.count = static_cast<unsigned>(one.operands[2].value);
  const bool is_size = one.count == 16 || (!skips_first_cache && (one.count == 4 || one.count == 8));
  if (!is_size) throw ParseError("expected a copy of 4, 8 or 16 bytes (16 for .cg), got " + std::to_string(one.count));
  one.execute = start;
  return true;
}

}  // namespace ferry::ptx
