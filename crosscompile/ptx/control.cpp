// PTX ISA, "Control Flow Instructions", and the barrier of a block ("Parallel Synchronization").
#include "crosscompile/ptx/block.h"
#include "crosscompile/ptx/operate.h"

namespace ferry::ptx {
namespace {

void branch(Thread& thread, const Instruction& one) { thread.jump(one.operands[0].value); }

void branch_by_table(Thread& thread, const Instruction& one) {
  if (thread.unwritten(one.operands[0]) != 0) thread.fail(FaultKind::unwritten, "the index was never written");
  const Word index = thread.value(one.operands[0]) & 0xffffffff;
  const std::vector<Operand>& targets = one.operands[1].parts;
  if (index >= targets.size()) thread.fail(FaultKind::illegal_address, "there are fewer targets");
  thread.jump(targets[index].value);
}

void wait_at_barrier(Thread& thread, const Instruction& one) { thread.wait(State::at_barrier, one); }

// "bar.sync 0", and "bar.red.OP d, 0, p", which combines a predicate of all threads.
bool decode_barrier(Opcode& opcode, Instruction& one) {
  opcode.take("cta");
  const bool reduces = opcode.take("red");
  if (!reduces && !opcode.take("sync")) return false;
  opcode.take("aligned");

  one.mode = kNoReduction;
  if (reduces) {
    opcode.take("all");
    one.mode = opcode.take("popc") ? kCount : opcode.take("and") ? kAll : opcode.take("or") ? kAny : kNoReduction;
    if (one.mode == kNoReduction) throw ParseError("expected .popc, .and or .or in '" + one.text + "'");
    one.type = opcode.take_type();
  }
  const std::size_t number = reduces ? 1 : 0;
  const bool is_known = one.operands.size() == (reduces ? 3 : 1) &&
                        one.operands[number].kind == OperandKind::constant && one.operands[number].value == 0;
  if (!is_known)
    throw ParseError("the interpreter knows barrier 0 of all threads alone, not '" + one.text +
                     "' with other operands");
  one.execute = wait_at_barrier;
  return true;
}

}  // namespace

bool decode_control(Opcode& opcode, Instruction& one) {
  const std::string& name = opcode.name();
  if (name == "bra") {
    opcode.take("uni");
    expect_operands(one, 1);
    one.execute = branch;
  } else if (name == "brx") {
    if (!opcode.take("idx")) return false;
    opcode.take("uni");
    expect_operands(one, 2);
    one.execute = branch_by_table;
  } else if (name == "call") {
    opcode.take("uni");
    one.execute = [](Thread& thread, const Instruction& self) { thread.call(self); };
  } else if (name == "ret") {
    opcode.take("uni");
    one.execute = [](Thread& thread, const Instruction&) { thread.leave(); };
  } else if (name == "exit") {
    one.execute = [](Thread& thread, const Instruction&) { thread.end(); };
  } else if (name == "membar" || name == "fence") {
    throw ParseError("the interpreter does not know '" + one.text +
                     "': it orders accesses by barriers alone, not by fences");
  } else if (name == "nanosleep") {
    opcode.take_type();
    one.execute = [](Thread&, const Instruction&) {};
  } else if (name == "trap") {
    one.execute = [](Thread& thread, const Instruction&) { thread.fail(FaultKind::divergence, "comes to a trap"); };
  } else if (name == "bar" || name == "barrier") {
    return decode_barrier(opcode, one);
  } else {
    return false;
  }
  return true;
}

}  // namespace ferry::ptx
