// A thread of a kernel: its registers, calls and memory accesses. Register bits that were never written are tracked
// through every operation and reported when the result would depend on them: in an address, a branch, or a byte of
// global memory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "crosscompile/ptx/memory.h"
#include "crosscompile/ptx/program.h"

namespace ferry::ptx {

class Block;

enum class State : std::uint8_t { running, at_barrier, at_warp, ended };

struct Frame {
  const Function* function = nullptr;
  std::size_t next = 0;         // index of the next instruction
  std::size_t registers = 0;    // index of the first own register
  std::vector<Region> local{};  // its arrays
  std::vector<std::uint8_t> local_content{};
  std::vector<std::uint8_t> parameters{}, unwritten_parameters{};
};

// A cp.async: its destination and content, and whether it has arrived.
struct AsyncCopy {
  Word to = 0;
  unsigned bytes = 0;
  bool has_landed = false;
  std::array<std::uint8_t, 16> content{};
};

class Thread {
 public:
  Thread(Block& block, const Function& kernel, std::uint32_t index, std::span<const Word> specials,
         std::span<const std::uint8_t> parameters);

  // Runs until the thread ends or waits for others.
  void run();

  Word value(const Operand& operand) const {
    return operand.kind == OperandKind::reg ? values_[place_of(operand.reg)] : operand.value;
  }
  // Returns the bits of the operand that were never written.
  Word unwritten(const Operand& operand) const {
    return operand.kind == OperandKind::reg ? unwritten_[place_of(operand.reg)] : 0;
  }
  void set(const Operand& operand, Word value, Word unwritten) {
    if (operand.kind == OperandKind::sink) return;
    const Word mask = mask_of(operand.bits);
    values_[base_ + operand.reg] = value & mask;
    unwritten_[base_ + operand.reg] = unwritten & mask;
  }
  // Evaluates a predicate that determines control flow, which must have been written.
  bool decides(const Operand& predicate);
  // Returns the lanes that execute the instruction together, by the value of its operand.
  std::uint32_t lanes_of(const Instruction& instruction) const;
  Word address(const Operand& operand);

  void load(Space space, Word address, unsigned bytes, std::uint8_t* into, std::uint8_t* unwritten, bool is_read_only);
  void store(Space space, Word address, unsigned bytes, const std::uint8_t* from, const std::uint8_t* unwritten);

  // Reads a value and replaces it in one step, by `change(old)`. `lost`: the bits of what it changes it by that were
  // never written. Returns the old value with its unwritten bits.
  struct Old {
    Word value = 0, unwritten = 0;
  };
  template <class Change>
  Old update(Space space, Word address, unsigned bytes, Word lost, const Change& change);

  void jump(Word instruction) { frames_.back().next = instruction; }
  void call(const Instruction& instruction);
  void leave();  // returns from the function, or ends the kernel
  void end();
  void wait(State state, const Instruction& instruction) {
    state_ = state;
    waits_at_ = &instruction;
  }
  void go_on() { state_ = State::running; }

  State state() const { return state_; }
  const Instruction* waits_at() const { return waits_at_; }
  std::size_t depth() const { return frames_.size(); }
  std::uint32_t index() const { return index_; }
  Block& block() { return block_; }
  Frame& frame() { return frames_.back(); }
  [[noreturn]] void fail(FaultKind kind, const std::string& what) const;

  // PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy".
  void start_copy(Word to, Word from, unsigned bytes, unsigned source_bytes);
  void commit_copies();
  void wait_for_copies(std::size_t groups_left);
  void land_some_copies();

  bool carry = false, carry_unwritten = true;

 private:
  struct Place {
    Region* region = nullptr;
    std::size_t offset = 0;
    bool is_own = false;  // no other thread can access it
  };
  std::size_t place_of(std::uint32_t reg) const { return reg < kSpecialRegisters.size() ? reg : base_ + reg; }
  Place place(Space space, Word address, unsigned bytes, const char* does);
  [[noreturn]] void fail_outside(const Regions* regions, Space space, Word address, unsigned bytes,
                                 const char* does) const;
  Access access() const;
  void note_all(Place& found, Word address, unsigned bytes, AccessKind kind);
  void land(AsyncCopy& copy);
  void finish(AsyncCopy& copy);
  void enter(const Function& function);

  Block& block_;
  std::uint32_t index_;
  State state_ = State::running;
  const Instruction* waits_at_ = nullptr;
  const Instruction* current_ = nullptr;
  std::size_t base_ = 0;
  std::vector<Word> values_, unwritten_;
  std::vector<Frame> frames_;
  std::vector<AsyncCopy> open_copies_;
  std::vector<std::vector<AsyncCopy>> copy_groups_;
};

template <class Change>
Thread::Old Thread::update(Space space, Word address, unsigned bytes, Word lost, const Change& change) {
  Place found = place(space, address, bytes, "changes");
  if (!found.is_own) note_all(found, address, bytes, AccessKind::atomic);
  std::vector<std::uint8_t>& unwritten = found.region->unwritten;
  Old old;
  for (unsigned i = 0; i < bytes; ++i) {
    old.value |= static_cast<Word>(found.region->content[found.offset + i]) << (8 * i);
    if (!unwritten.empty() && unwritten[found.offset + i] != 0) old.unwritten |= Word{0xff} << (8 * i);
  }
  lost |= old.unwritten;
  if (lost != 0 && (unwritten.empty() || found.region->is_result))
    fail(FaultKind::unwritten,
         (old.unwritten != 0 ? "changes what was never written, " : "stores what was never computed, in ") +
             place_in(*found.region, found.region->address + found.offset));
  const Word value = change(old.value);
  for (unsigned i = 0; i < bytes; ++i) {
    found.region->content[found.offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
    if (!unwritten.empty()) unwritten[found.offset + i] = lost != 0 ? 1 : 0;
  }
  return old;
}

}  // namespace ferry::ptx
