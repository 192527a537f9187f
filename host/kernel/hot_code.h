// Finds the part of machine code that takes the time, and shows it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "crosscompile/target/machine_code.h"

namespace ferry {

// Instructions of a function from the target of a backward branch to the last one that leads back to it.
struct CodeLoop {
  std::size_t first = 0, last = 0;  // both are part of it
  std::size_t size() const { return last - first + 1; }
  bool operator==(const CodeLoop&) const = default;
};

// Returns the loops that contain no other loop, in their order.
std::vector<CodeLoop> innermost_loops(const MachineFunction& function);

// Returns the names of the functions with the largest innermost loops, at most `most`: unrolled and vectorized bodies
// are larger than the loops for what is left over.
std::vector<std::string> hottest_functions(std::span<const MachineFunction> functions, std::size_t most);

// A large innermost loop, an instruction a line.
struct HotLoop {
  std::string function;
  std::size_t instructions = 0;  // in its code: those of one iteration in which no branch skips any
  std::string text;

  // The text beneath a line that names the loop and says what its number of instructions is.
  std::string titled() const;
};
std::vector<HotLoop> hot_loops(std::span<const MachineFunction> functions, std::span<const std::string> names);
// Shows them, with a line that names each loop.
std::string hot_text(std::span<const MachineFunction> functions, std::span<const std::string> names);
// Shows functions as a whole.
std::string code_text(std::span<const MachineFunction> functions);

}  // namespace ferry
