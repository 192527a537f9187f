// What a function does that runs on a GPU: a straight list of steps. Sizes and places are expressions over the
// function's symbols, so one plan serves every call.
#pragma once

#include "rpc/abi/manifest_expr.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ferry {

inline constexpr std::size_t kMaxSteps = 4096;
inline constexpr std::size_t kMaxOperands = 128;

enum class OperandKind : std::uint8_t {
  argument = 1,        // the memory of a tensor parameter
  call_workspace = 2,  // the block that lasts for the call
  scalar = 3,          // the value of a scalar parameter
  symbol = 4,          // a size, int64
};

// What a step works on.
struct Operand {
  OperandKind kind = OperandKind::argument;
  std::uint32_t index = 0;  // of the parameter or symbol; 0 for the workspace
  ManifestExpr offset;      // of memory: bytes from its start; without code: 0
  bool operator==(const Operand&) const = default;
};

// Runs a kernel of the module's image: grid * block threads, the operands in the order of its parameters.
struct Launch {
  std::string kernel;
  // Along x, y and z; without code: 1. A grid with an extent below 1 runs nothing.
  std::array<ManifestExpr, 3> grid, block;
  ManifestExpr shared_bytes;  // beyond what the kernel declares itself; without code: 0
  std::vector<Operand> operands;
  bool operator==(const Launch&) const = default;
};

// Tags that are not listed are kept for calls of native code, copies, fills, streams, events, conditions and loops.
enum class StepKind : std::uint8_t { launch = 2 };

struct Step {
  StepKind kind = StepKind::launch;
  Launch launch;
  bool operator==(const Step&) const = default;
};

using Plan = std::vector<Step>;

}  // namespace ferry
