// PTX ISA, "Control Flow Instructions", and the barrier of a block ("Parallel Synchronization").
#include "tests/support/ptx/operate.h"

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
  } else if (name == "trap") {
    one.execute = [](Thread& thread, const Instruction&) { thread.fail(FaultKind::divergence, "comes to a trap"); };
  } else if (name == "bar" || name == "barrier") {
    opcode.take("cta");
    if (!opcode.take("sync")) return false;
    opcode.take("aligned");
    if (one.operands.size() != 1 || one.operands[0].kind != OperandKind::constant || one.operands[0].value != 0)
      throw ParseError("the interpreter knows barrier 0 of all threads alone, not '" + one.text +
                       "' with other operands");
    one.execute = wait_at_barrier;
  } else {
    return false;
  }
  return true;
}

}  // namespace ferry::ptx
