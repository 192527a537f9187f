// Machine code as text, for people and for comparisons.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ferry {

struct MachineInstruction {
  // "vmovups (%rsi,%rax,4), %ymm0", without the addresses of code and data, which change with every other line. Behind
  // the text of a branch within its function follows the target.
  std::string text;
  std::optional<std::size_t> target;  // the index of the instruction that it branches to, in its function
  bool operator==(const MachineInstruction&) const = default;
};

struct MachineFunction {
  std::string name;
  std::vector<MachineInstruction> instructions;
  bool operator==(const MachineFunction&) const = default;
};

}  // namespace ferry
