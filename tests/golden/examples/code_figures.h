// Figures of a module's machine code that people can judge: how much there is, how wide its vectors are, and how much
// of its loops is spent on spilled registers.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "crosscompile/target/machine_code.h"

namespace ferry::test {

struct CodeFigures {
  std::size_t instructions = 0;
  std::string vectors;                      // "512 bits", "m4" (groups of registers of RVV), or "none"
  std::size_t loops = 0, largest_loop = 0;  // innermost loops; the instructions of the largest one
  std::size_t stack_accesses = 0;           // instructions of the innermost loops that address the stack
};
CodeFigures figures_of(std::span<const MachineFunction> functions);

// Returns "180 instructions, vectors of 512 bits, 4 innermost loops of at most 42, 0 stack accesses in them".
std::string to_text(const CodeFigures& figures);

}  // namespace ferry::test
